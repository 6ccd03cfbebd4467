import { assert, assertEquals } from "@std/assert";
import { countDescriptors } from "./machine.ts";

/** Counts descriptors. Returns what was said, and how to end the count. */
function count(wanted: number) {
  const said: number[] = [];
  let release = () => false;
  const ended = countDescriptors(wanted, {
    onLow: (free) => said.push(free),
    onHeld: (given) => release = given,
  });
  return { said, ended, release: () => release() };
}

const ignore = Deno.build.os === "windows";

Deno.test({
  name: "Enough descriptors are no reason for a limit.",
  ignore,
  async fn() {
    const { said, ended, release } = count(64);
    await ended;
    assertEquals([said, release()], [[], false]);
  },
});

Deno.test({
  name: "A connection that needs a descriptor ends the count, which says what it has found.",
  ignore,
  async fn() {
    const { said, ended, release } = count(Number.MAX_SAFE_INTEGER);
    assert(release());
    assertEquals(release(), false);
    await ended;
    assertEquals(said, [256]);
  },
});

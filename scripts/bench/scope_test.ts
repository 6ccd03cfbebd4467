import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Scope } from "./scope.ts";

Deno.test("A scope ends its processes and removes its folder", async () => {
  const scope = await Scope.open();
  const nested = await scope.nested();
  await Deno.writeTextFile(`${await nested.makeFolder()}/file`, "text");
  const child = nested.spawn(Deno.execPath(), {
    args: ["eval", "setTimeout(() => {}, 60_000)"],
    stdout: "null",
    stderr: "null",
  });
  let cleaned = false;
  scope.onClose(() => {
    cleaned = true;
    return Promise.resolve();
  });
  await scope[Symbol.asyncDispose]();
  assertEquals((await child.status).signal, "SIGTERM");
  assertEquals(cleaned, true);
  await assertRejects(() => Deno.stat(scope.folder), Deno.errors.NotFound);
  assertThrows(() => scope.spawn(Deno.execPath(), {}), Error, "the run is ending");
});

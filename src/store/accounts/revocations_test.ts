import { assertEquals } from "@std/assert";
import { Revocations } from "./revocations.ts";

Deno.test("Every listener is told of every change until it ends that, also while it is told", () => {
  const revocations = new Revocations();
  const told: string[] = [];
  const listen = (name: string) => revocations.onChange(() => void told.push(name));
  const ends = [listen("a"), listen("b")];
  const once = revocations.onChange(() => (told.push("once"), once()));
  revocations.notify();
  ends[0]?.();
  ends[0]?.();
  revocations.notify();
  assertEquals(told, ["a", "b", "once", "b"]);
});

Deno.test("A function that listens twice is told twice, and ends one at a time", () => {
  const revocations = new Revocations();
  let told = 0;
  const count = () => void told++;
  const [end] = [revocations.onChange(count), revocations.onChange(count)];
  revocations.notify();
  end?.();
  revocations.notify();
  assertEquals(told, 3);
});

import { assertEquals } from "@std/assert";
import { Revocations } from "./revocations.ts";

Deno.test("A listener is called at every change until it is removed, which it may do while it is called", () => {
  const revocations = new Revocations();
  const calls: string[] = [];
  const listen = (name: string) => revocations.onChange(() => void calls.push(name));
  const ends = [listen("a"), listen("b")];
  const once = revocations.onChange(() => (calls.push("once"), once()));
  revocations.notify();
  ends[0]?.();
  ends[0]?.();
  revocations.notify();
  assertEquals(calls, ["a", "b", "once", "b"]);
});

Deno.test("A function that was added twice is called twice and removed one at a time", () => {
  const revocations = new Revocations();
  let calls = 0;
  const count = () => void calls++;
  const [end] = [revocations.onChange(count), revocations.onChange(count)];
  revocations.notify();
  end?.();
  revocations.notify();
  assertEquals(calls, 3);
});

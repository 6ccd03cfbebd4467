import { assertEquals } from "@std/assert";
import { takeTurns } from "./runner.ts";

Deno.test("takeTurns() warms up, then reverses the order in every second round", async () => {
  let order = "";
  const side = (name: string, figure: number) => () => {
    order += name;
    return Promise.resolve([figure]);
  };
  const rounds = await takeTurns([side("a", 1), side("b", 2), side("c", 3)], 3, 0);
  assertEquals(order, "abc" + "abc" + "cba" + "abc");
  assertEquals(rounds, Array.from({ length: 3 }, () => [[1], [2], [3]]));
});

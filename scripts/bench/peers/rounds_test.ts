import { assertEquals } from "@std/assert";
import { type Contender, rotated, runRounds } from "./rounds.ts";

Deno.test("rotated() lets each contender begin once", () => {
  const orders = [0, 1, 2, 3].map((round) => rotated(["a", "b", "c"], round).join(""));
  assertEquals(orders, ["abc", "bca", "cab", "abc"]);
  assertEquals(rotated([], 2), []);
});

Deno.test("runRounds() keeps the figures of all rounds by row and server", async () => {
  let calls = 0;
  const contender = (name: string, rows: string[]): Contender => ({
    name,
    measure(note) {
      for (const row of rows) note(row, ++calls);
      return Promise.resolve();
    },
  });
  const lines: string[] = [];
  const contenders = [contender("a", ["r", "s"]), contender("b", ["r"])];
  const figures = await runRounds(contenders, 2, (line) => lines.push(line));
  assertEquals(figures.get("r"), new Map([["a", [1, 5]], ["b", [3, 4]]]));
  assertEquals(figures.get("s"), new Map([["a", [2, 6]]]));
  assertEquals(lines.at(-1), "round 2 of 2: a");
});

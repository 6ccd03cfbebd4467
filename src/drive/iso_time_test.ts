import { assertEquals } from "@std/assert";
import { isoSeconds } from "./iso_time.ts";

Deno.test("A time is told in UTC with whole seconds, which are not rounded up", () => {
  const cases = [
    [0, "1970-01-01T00:00:00Z"],
    [Date.UTC(2021, 3, 22, 11, 50, 8), "2021-04-22T11:50:08Z"],
    [Date.UTC(2021, 3, 22, 11, 50, 8, 999), "2021-04-22T11:50:08Z"],
    [Date.UTC(1999, 11, 31, 23, 59, 59, 1), "1999-12-31T23:59:59Z"],
  ] as const;
  for (const [ms, text] of cases) assertEquals(isoSeconds(ms), text);
});

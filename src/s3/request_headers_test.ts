import { assertEquals } from "@std/assert";
import { headerLines } from "./parameters.ts";

Deno.test("headerLines() keeps the lines of one name apart, if the server kept them", () => {
  const headers: [string, string][] = [["a", "1"], ["a", "2"], ["b", "3"]];
  const request = new Request("http://localhost", { headers });
  assertEquals([...headerLines(request)], [["a", "1, 2"], ["b", "3"]]);
  const lines = headers.map(([lower, value]) => ({ lower, value }));
  assertEquals([...headerLines(Object.assign(request, { lines }))], headers);
});

import { assert, assertEquals } from "@std/assert";
import { COLORS } from "./html.ts";

Deno.test("the pages of the server have the colors of the dashboard", async () => {
  const file = new URL("../../dashboard/styles/theme.css", import.meta.url);
  const theme = await Deno.readTextFile(file);
  for (const [name, [light, dark]] of Object.entries(COLORS)) {
    const line = theme.split("\n").find((line) => line.trim().startsWith(`--${name}:`)) ?? "";
    assertEquals(line.trim(), `--${name}: light-dark(${light}, ${dark});`);
  }
  assert(Object.keys(COLORS).length > 10);
});

import { assert, assertEquals } from "@std/assert";
import { COMMANDS } from "../src/cli/commands.ts";
import { optionsOf } from "../src/cli/options/command.ts";
import { variableOf } from "../src/cli/options/arguments.ts";
import { SERVE_OPTIONS } from "../src/cli/options/configuration.ts";
import { CONFIGURATION_DOC, configurationDoc } from "./configuration_doc.ts";

Deno.test("docs/configuration.md is current", async () => {
  const text = await Deno.readTextFile(CONFIGURATION_DOC);
  assertEquals(text, configurationDoc(), "Run: deno task docs");
});

Deno.test("docs/configuration.md names every option of every command and every variable", () => {
  const text = configurationDoc();
  for (const command of COMMANDS) {
    for (const { name } of optionsOf(command)) assert(text.includes(`\`--${name}\``), name);
  }
  for (const { name } of SERVE_OPTIONS) assert(text.includes(`\`${variableOf(name)}\``), name);
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { VERSION } from "../version.ts";
import { COMMANDS, commandsOf } from "./commands.ts";
import { commandHelp, helpText } from "./help.ts";
import { variableOf } from "./options/arguments.ts";
import { SERVE_OPTIONS } from "./options/configuration.ts";

Deno.test("The help lists the version, every command and every option with its variable", () => {
  const text = helpText(VERSION, COMMANDS);
  assertStringIncludes(text, `kvdrive ${VERSION}`);
  for (const { name, summary } of [...COMMANDS, { name: "help", summary: "" }]) {
    assertStringIncludes(text, `kvdrive ${name}`);
    assertStringIncludes(text, summary);
  }
  for (const { name, value, help } of SERVE_OPTIONS) {
    assertStringIncludes(text, value === undefined ? `--${name}` : `--${name} ${value}`);
    assertStringIncludes(text, help);
    assertStringIncludes(text, variableOf(name));
  }
  for (const variable of ["KVDRIVE_PROJECT_KEY", "KVDRIVE_ADMIN_TOKEN"]) {
    assertStringIncludes(text, variable);
  }
  assert(text.endsWith("\n"));
});

Deno.test("The help of a command shows its usage and its options", () => {
  for (const command of COMMANDS) {
    const text = commandHelp([command]);
    assertStringIncludes(text, `  ${command.usage}\n`);
    assertStringIncludes(text, command.summary);
    for (const { name, help } of command.options) {
      assertStringIncludes(text, `--${name}`);
      assertStringIncludes(text, help);
    }
    assert(/[^\n]\n$/.test(text), text);
  }
});

Deno.test("The first word of a group selects all its commands", () => {
  const names = (...words: string[]) => commandsOf(words).map(({ name }) => name);
  assertEquals(names("project"), [
    "project create",
    "project list",
    "project change",
    "project delete",
  ]);
  assertEquals(names("key", "list", "p"), ["key list"]);
  assertEquals(names("serve", "--port"), ["serve"]);
  assertEquals(names("admin-token"), ["admin-token reset"]);
  for (const words of [[], [""], ["proj"], ["project create"], ["list"], ["constructor"]]) {
    assertEquals(names(...words), []);
  }
});

Deno.test("Every line of the help fits into 100 columns", () => {
  const texts = [helpText(VERSION, COMMANDS), ...COMMANDS.map((one) => commandHelp([one]))];
  for (const line of texts.flatMap((text) => text.split("\n"))) assert(line.length <= 100, line);
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { COMMANDS, SECTIONS } from "../commands.ts";
import { styleFor } from "../terminal/text.ts";
import { variableOf } from "./arguments.ts";
import { usageOf } from "./command.ts";
import { SERVE_OPTIONS } from "./configuration.ts";
import { commandHelp, helpText, overviewText } from "./help.ts";

const VERSION = "1.2.3";
const PLAIN = styleFor({ isTerminal: () => false }, {});
const BOLD = styleFor({ isTerminal: () => true }, {});

Deno.test("The help lists the version and every command, and that of serve its options with their variables", () => {
  const text = helpText(VERSION, SECTIONS, PLAIN);
  assertStringIncludes(text, `kvdrive ${VERSION}`);
  const shown = COMMANDS.filter(({ isHidden }) => !isHidden);
  for (const { name, summary } of [...shown, { name: "help", summary: "" }]) {
    assertStringIncludes(text, `kvdrive ${name}`);
    assertStringIncludes(text, summary);
  }
  assert(text.endsWith("\n"));
  const serve = commandHelp(COMMANDS.filter(({ name }) => name === "serve"), PLAIN);
  for (const { name, value, help } of SERVE_OPTIONS) {
    assertStringIncludes(serve, value === undefined ? `--${name} ` : `--${name} ${value} `);
    assertStringIncludes(serve, help);
    assertStringIncludes(serve, variableOf(name));
    assert(!text.includes(variableOf(name)), name);
  }
  for (const variable of ["KVDRIVE_PROJECT_KEY", "KVDRIVE_ADMIN_TOKEN"]) {
    assertStringIncludes(serve, variable);
  }
});

Deno.test("The overview has an example of the most used commands in few lines", () => {
  const lines = overviewText(VERSION, COMMANDS, PLAIN).split("\n");
  assert(lines.length <= 16 && lines.every((line) => line.length <= 100), lines.join("\n"));
  for (const start of ["serve", "login", "put", "get"]) {
    assert(lines.some((line) => line.startsWith(`  kvdrive ${start}`)), start);
  }
  assert(!lines.some((line) => line.trim() === "" && line !== ""), lines.join("\n"));
});

Deno.test("The help of a command shows its usage and its options", () => {
  for (const command of COMMANDS) {
    const text = commandHelp([command], PLAIN);
    assertStringIncludes(text.replaceAll(/\s+/g, " "), ` ${usageOf(command)} `);
    assertStringIncludes(text, command.summary);
    for (const { name, help } of command.options ?? []) {
      assertStringIncludes(text, `--${name}`);
      assertStringIncludes(text, help);
    }
    assert(/[^\n]\n$/.test(text), text);
  }
});

Deno.test("Every command has an example that calls it, and a meaning for it", () => {
  for (const { name, examples } of COMMANDS) {
    assert(examples.length > 0, name);
    const text = commandHelp(COMMANDS.filter((one) => one.name === name), PLAIN);
    for (const [line, meaning] of examples) {
      assert(line.includes(`kvdrive ${name}`), line);
      assertStringIncludes(text, `  ${line}\n      ${meaning}\n`);
    }
  }
});

Deno.test("Headings are bold on a terminal, unless NO_COLOR is set or the terminal is dumb", () => {
  const terminal = { isTerminal: () => true };
  const plain = helpText(VERSION, SECTIONS, PLAIN);
  assertStringIncludes(helpText(VERSION, SECTIONS, BOLD), "\x1b[1mFiles:\x1b[0m");
  for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
    assertEquals(helpText(VERSION, SECTIONS, styleFor(terminal, env)), plain);
  }
});

Deno.test("Every line of the help fits into 100 columns", () => {
  const texts = [
    helpText(VERSION, SECTIONS, PLAIN),
    ...COMMANDS.map((one) => commandHelp([one], PLAIN)),
  ];
  for (const line of texts.flatMap((text) => text.split("\n"))) assert(line.length <= 100, line);
});

import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../terminal/output.ts";
import type { Arguments, Command } from "./command.ts";
import { parseCommandLine } from "./parser.ts";

const SECRET = "0123456789abcdefghijABCDEFGHIJ";

const load = () => Promise.reject(new Error("Commands are only parsed here"));

const COMMANDS: readonly Command[] = [
  {
    name: "send",
    operands: ["SOURCE...", "TARGET"],
    options: [
      { name: "name", short: "n", value: "NAME", help: "" },
      { name: "yes", short: "y", help: "" },
      { name: "no-clobber", help: "" },
      { name: "exclude", value: "GLOB", isList: true, help: "" },
    ],
    commonOptions: [{ name: "json", help: "" }, { name: "verbose", short: "v", help: "" }],
    summary: "",
    examples: [],
    load,
  },
  { name: "list", operands: ["[NAME]"], summary: "", examples: [], load },
  { name: "box open", oldNames: ["can open"], operands: ["BOX"], summary: "", examples: [], load },
  { name: "box close", summary: "", examples: [], load },
  { name: "start", usage: "[OPTIONS]", summary: "", examples: [], load },
];

function parse(...words: string[]): { name: string; args: Arguments } {
  const line = parseCommandLine(COMMANDS, words);
  if (!("args" in line)) throw new Error(`Help was printed for ${words.join(" ")}`);
  return { name: line.command.name, args: line.args };
}

function helpFor(...words: string[]): string[] {
  const line = parseCommandLine(COMMANDS, words);
  return "help" in line ? line.help.map(({ name }) => name) : ["no help"];
}

Deno.test("Options and operands may be mixed", () => {
  const orders = [
    ["a", "b", "--name", "x", "--yes"],
    ["-y", "-n", "x", "a", "b"],
    ["a", "-yn", "x", "b"],
    ["--yes", "--name=x", "--", "a", "b"],
    ["-nx", "a", "--yes", "b"],
  ];
  for (const words of orders) {
    const { args } = parse("send", ...words);
    const options = [...args.options].sort();
    assertEquals([options, args.operands], [[["name", "x"], ["yes", "true"]], ["a", "b"]]);
    assertEquals([args.get("name"), args.has("yes"), args.has("json")], ["x", true, false]);
  }
});

Deno.test("After -- every argument is an operand, and a lone - always", () => {
  const { args } = parse("send", "--", "-y", "--name", "--help");
  assertEquals([args.options.size, args.operands], [0, ["-y", "--name", "--help"]]);
  assertEquals(parse("send", "-", "-n", "-", "b").args.operands, ["-", "b"]);
  assertEquals(parse("send", "--name=-y", "a", "b").args.get("name"), "-y");
});

Deno.test("A switch that begins with no- is an ordinary one, and a list keeps its order", () => {
  const { args } = parse("send", "a", "--exclude", "b", "--no-clobber", "c", "--exclude=d", "e");
  assertEquals(args.operands, ["a", "c", "e"]);
  assertEquals([args.has("no-clobber"), args.all("exclude")], [true, ["b", "d"]]);
  assertEquals(parse("send", "a", "b").args.all("exclude"), []);
});

Deno.test("Operands have their names", () => {
  assertEquals(parse("list", "x").args.get("NAME"), "x");
  assertEquals(parse("list").args.get("NAME"), undefined);
  assertEquals(parse("box", "open", "lid").args.get("BOX"), "lid");
});

Deno.test("An old name calls the command, and switches may stand before the name", () => {
  assertEquals(parse("can", "open", "x").name, "box open");
  const { name, args } = parse("-v", "--json", "send", "a", "b");
  assertEquals([name, args.has("verbose"), args.has("json")], ["send", true, true]);
});

Deno.test("Help is given for the program, a group and a command", () => {
  for (const words of [["help"], ["--help"], ["-h"], ["help", "help"], ["help", "--help"]]) {
    assertEquals(helpFor(...words), [], words.join(" "));
  }
  for (const words of [["help", "send"], ["send", "--help"], ["send", "-h", "--bad"]]) {
    assertEquals(helpFor(...words), ["send"], words.join(" "));
  }
  for (const words of [["help", "box"], ["box", "--help"], ["box", "-h"]]) {
    assertEquals(helpFor(...words), ["box open", "box close"], words.join(" "));
  }
  assertEquals(helpFor("help", "box", "open"), ["box open"]);
  assertEquals(helpFor("box", "open", "--help"), ["box open"]);
  assertEquals(helpFor("can", "--help"), ["box open"]);
});

const USAGE = "kvdrive send SOURCE... TARGET [--name NAME] [--yes] [--no-clobber] [--exclude GLOB]";

Deno.test("An error names the option and the usage, but not the value", () => {
  const cases: [args: string[], message: string][] = [
    [["--nome", SECRET], `Unknown option "--nome". Did you mean --name? Usage: ${USAGE}`],
    [[`--nome=${SECRET}`], `Unknown option "--nome". Did you mean --name? Usage: ${USAGE}`],
    [["--no"], `Unknown option "--no". Did you mean --no-clobber? Usage: ${USAGE}`],
    [["--yse"], `Unknown option "--yse". Did you mean --yes? Usage: ${USAGE}`],
    // Not those of which as many letters are other ones.
    [["--game"], `Unknown option "--game". Did you mean --name? Usage: ${USAGE}`],
    [["--lame-"], `Unknown option "--lame-": usage: ${USAGE}`],
    [["--gate"], `Unknown option "--gate": usage: ${USAGE}`],
    [["-x"], `Unknown option "-x": usage: ${USAGE}`],
    [[`-${SECRET}`], `Unknown option "…": usage: ${USAGE}`],
    [["--name"], `The option --name needs a value, NAME: usage: ${USAGE}`],
    [["--name="], `The option --name needs a value, NAME: usage: ${USAGE}`],
    [["--name", "-y"], `The option --name needs a value, NAME: usage: ${USAGE}`],
    [["-n", SECRET, "--name=x"], `The option --name is given more than once: usage: ${USAGE}`],
    [["-yy"], `The option --yes is given more than once: usage: ${USAGE}`],
    [[`--yes=${SECRET}`], `The option --yes takes no value: usage: ${USAGE}`],
    [["a"], `TARGET is missing: usage: ${USAGE}`],
    [["", "b"], `SOURCE is missing: usage: ${USAGE}`],
  ];
  for (const [words, message] of cases) {
    const error = assertThrows(() => parse("send", ...words), UsageError);
    assertEquals(error.message, message);
  }
  assertRefused(["list", "a", SECRET], "Too many arguments: usage: kvdrive list [NAME]");
  assertRefused(["start", SECRET], 'Unknown argument "…": see kvdrive help start');
});

Deno.test("A wrong command suggests a similar one", () => {
  assertRefused(["lst"], 'Unknown command "lst". Did you mean list? See kvdrive help');
  assertRefused(["help", "lst"], 'Unknown command "lst". Did you mean list? See kvdrive help');
  assertRefused(["lst", "--help"], 'Unknown command "lst". Did you mean list? See kvdrive help');
  assertRefused(["frobnicate"], 'Unknown command "frobnicate": see kvdrive help');
  assertRefused([SECRET], 'Unknown command "…": see kvdrive help');
  assertRefused(["--port", "80"], 'Unknown option "--port": see kvdrive help');
  assertRefused(["constructor"], 'Unknown command "constructor": see kvdrive help');
  assertRefused(
    ["box", "opn"],
    'Unknown command "opn" of kvdrive box. Did you mean open? See kvdrive help box',
  );
  assertRefused(["box"], "Incomplete command kvdrive box: use open, close; see kvdrive help box");
  assertRefused(
    ["box", SECRET],
    'Unknown command "…" of kvdrive box: use open, close; see kvdrive help box',
  );
});

function assertRefused(words: string[], message: string): void {
  assertEquals(assertThrows(() => parse(...words), UsageError).message, message);
}

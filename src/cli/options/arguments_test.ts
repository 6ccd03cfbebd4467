import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../terminal/output.ts";
import { type OptionSpec, parseFlags } from "./arguments.ts";

const SPECS: readonly OptionSpec[] = [
  { name: "name", short: "n", value: "NAME", help: "" },
  { name: "yes", short: "y", help: "" },
];

Deno.test("Options and operands may be mixed", () => {
  const orders = [
    ["a", "b", "--name", "x", "--yes"],
    ["-y", "-n", "x", "a", "b"],
    ["a", "-yn", "x", "b"],
    ["--yes", "--name=x", "--", "a", "b"],
    ["-nx", "a", "--yes", "b"],
  ];
  for (const args of orders) {
    const { options, operands } = parseFlags(SPECS, args, "");
    assertEquals([[...options].sort(), operands], [[["name", "x"], ["yes", "true"]], ["a", "b"]]);
  }
});

Deno.test("After -- every argument is an operand", () => {
  const { options, operands } = parseFlags(SPECS, ["--", "-y", "--name"], "");
  assertEquals([options.size, operands], [0, ["-y", "--name"]]);
});

Deno.test("An error names the option and the advice, but not the value", () => {
  const cases: [args: string[], message: string][] = [
    [["--nam", "swordfish"], "Unknown option '--nam': ADVICE"],
    [["--nam=swordfish"], "Unknown option '--nam': ADVICE"],
    [["-x"], "Unknown option '-x': ADVICE"],
    [["--name"], "Option '-n, --name <value>' argument missing: ADVICE"],
    [["--name="], "The option --name needs a value, NAME: ADVICE"],
    [["--name", "-y"], "Option '--name' argument is ambiguous: ADVICE"],
    [["-n", "swordfish", "--name=x"], "The option --name is given more than once: ADVICE"],
    [["-yy"], "The option --yes is given more than once: ADVICE"],
    [["--yes=no"], "Option '-y, --yes' does not take an argument: ADVICE"],
  ];
  for (const [args, message] of cases) {
    const error = assertThrows(() => parseFlags(SPECS, args, "ADVICE"), UsageError);
    assertEquals(error.message, message);
  }
});

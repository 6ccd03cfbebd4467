import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { UsageError } from "../terminal/output.ts";
import { parseCommandLine } from "../options/parser.ts";
import type { CommandCall } from "./command_call.ts";
import { type CallCommand, storeCommand } from "./command_kinds.ts";

const SECRET = "0123456789abcdefghijABCDEFGHIJ";

const USAGE = "kvdrive thing make PROJECT [NAME] --color COLOR [--size N]";

/** The call that a command received. */
interface Seen {
  data: string;
  values: Record<string, string | undefined>;
}

/** Runs a command, and returns its call. */
async function run(
  args: string[],
  env: Record<string, string> = {},
  more: Partial<CallCommand> = {},
): Promise<Seen | undefined> {
  let seen: Seen | undefined;
  const command = storeCommand({
    name: "thing make",
    operands: ["PROJECT", "[NAME]"],
    options: [
      { name: "color", short: "c", value: "COLOR", isRequired: true, help: "" },
      { name: "size", value: "N", help: "" },
    ],
    summary: "",
    examples: [],
    load: () =>
      Promise.resolve((call: CommandCall) => {
        const names = ["PROJECT", "NAME", "color", "size", "json", "yes"];
        const values = Object.fromEntries(names.map((name) => [name, call.get(name)]));
        seen = { data: call.data, values };
        return Promise.resolve();
      }),
    ...more,
  });
  const line = parseCommandLine([command], ["thing", "make", ...args]);
  if ("args" in line) await (await command.load())(line.args, env);
  return seen;
}

Deno.test("Operands are named in order, options by their names", async () => {
  const nothing = { NAME: undefined, size: undefined, json: undefined, yes: undefined };
  const cases: [string[], Record<string, string | undefined>][] = [
    [["p", "--color", "red"], { ...nothing, PROJECT: "p", color: "red" }],
    [["-c", "red", "p", "a name", "--json"], {
      ...nothing,
      PROJECT: "p",
      NAME: "a name",
      color: "red",
      json: "true",
    }],
    [["--size=3", "-cred", "--", "-p"], { ...nothing, PROJECT: "-p", color: "red", size: "3" }],
  ];
  for (const [args, values] of cases) assertEquals((await run(args))?.values, values);
});

Deno.test("The store's folder is from the option, the variable, or ./data", async () => {
  const args = ["p", "--color", "red"];
  const env = { KVDRIVE_DATA: "variable" };
  assertEquals((await run(args))?.data, "./data");
  assertEquals((await run(args, { KVDRIVE_DATA: "" }))?.data, "./data");
  assertEquals((await run(args, env))?.data, "variable");
  assertEquals((await run([...args, "--data", "flag"], env))?.data, "flag");
});

Deno.test("Other options have no variable", async () => {
  const env = { KVDRIVE_SIZE: "1", KVDRIVE_YES: "1", KVDRIVE_JSON: "1", KVDRIVE_NAME: "x" };
  const seen = await run(["p", "--color", "red"], env);
  assertEquals(seen?.values, (await run(["p", "--color", "red"]))?.values);
});

Deno.test("Invalid arguments are refused with the usage, and not repeated", async () => {
  const cases: [args: string[], problem: string][] = [
    [[], "PROJECT is missing"],
    [["", "--color", "red"], "PROJECT is missing"],
    [["p"], "The option --color is missing"],
    [["p", "name", SECRET, "--color", "red"], "Too many arguments"],
    [["p", "--color", "red", "--sice", SECRET], 'Unknown option "--sice"'],
    [["p", "--color", "red", `--sice=${SECRET}`], 'Unknown option "--sice"'],
    [["p", "--color", SECRET, "--color", SECRET], "The option --color is given more than once"],
    [["p", "--color="], "The option --color needs a value, COLOR"],
    [["p", "--color", "red", "--yes"], 'Unknown option "--yes"'],
  ];
  for (const [args, problem] of cases) {
    const { message } = await assertRejects(() => run(args), UsageError, problem);
    assertMatch(message, new RegExp(`[uU]sage: ${RegExp.escape(USAGE)}`));
    assert(!message.includes(SECRET), message);
  }
});

Deno.test("A command that asks for confirmation has --yes in its usage", async () => {
  for (const yes of ["--yes", "-y"]) {
    const seen = await run(["p", "--color", "red", yes], {}, { asks: true });
    assertEquals(seen?.values["yes"], "true");
  }
  const missing = () => run(["p"], {}, { asks: true });
  await assertRejects(missing, UsageError, `${USAGE} [--yes]`);
  const unanswered = () => run(["p", "--color", "red"], {}, { asks: true });
  await assertRejects(unanswered, UsageError, "without a terminal: add --yes");
});

import { assertEquals, assertMatch } from "@std/assert";
import { ClientWorkspace, someBytes, waitUntil } from "../support/cli/client.ts";
import { type CommandResult, environment, Folder, programCommand } from "../support/command.ts";
import { PROJECT_ID } from "../support/server.ts";
import { unusedPort } from "../support/processes/ports.ts";

/** Runs a command whose standard output or error is a pipe without a reader. */
const CLOSED = `mkfifo "$PIPE"
exec 3<>"$PIPE" 4>"$PIPE" 3>&-
case $CLOSES in 1) exec "$@" >&4 4>&- ;; 2) exec "$@" 2>&4 4>&- ;; esac`;

interface Closed {
  env?: Record<string, string>;
  /** The stream that is closed: standard output unless given. */
  closes?: 1 | 2;
}

async function runClosed(
  folder: Folder,
  args: readonly string[],
  { env = {}, closes = 1 }: Closed = {},
): Promise<CommandResult> {
  const PIPE = folder.at(crypto.randomUUID());
  const command = new Deno.Command("sh", {
    args: ["-c", CLOSED, "sh", ...programCommand(args)],
    env: environment({ ...env, PIPE, CLOSES: `${closes}` }),
    clearEnv: true,
    cwd: folder.path,
    stdin: "null",
  });
  const { code, stdout, stderr } = await command.output();
  const [out, error] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out ?? "", stderr: error ?? "" };
}

Deno.test("A command ends without a message when the reader of its output exits, as with SIGPIPE.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "a", someBytes(200_000));
  const data = ["--data", desk.server.data];
  const commands = [
    ["help"],
    ["serve", "--help"],
    ["version"],
    ["install"],
    ["ls"],
    ["ls", "d"],
    ["ls", "d", "--json"],
    ["stat", "d:a"],
    ["get", "d:a", "-"],
    ["export", "out"],
    ["project", "list", ...data],
    ["key", "list", PROJECT_ID, ...data, "--json"],
  ];
  const env = desk.env();
  const runs = commands.map(async (args) => {
    const { code, stderr } = await runClosed(desk.folder, args, { env });
    return [args.join(" "), code, stderr];
  });
  assertEquals(await Promise.all(runs), commands.map((args) => [args.join(" "), 141, ""]));
});

Deno.test("A closed standard error changes neither the output nor the exit status.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "a", "content");
  const env = desk.env();
  const cases: [args: string[], code: number, stdout: string][] = [
    [["ls", "--wrong"], 2, ""],
    [["get", "d:missing"], 1, ""],
    [["get", "d:a", "-"], 0, "content"],
  ];
  for (const [args, ...wanted] of cases) {
    const { code, stdout } = await runClosed(desk.folder, args, { env, closes: 2 });
    assertEquals([code, stdout], wanted);
  }
});

Deno.test({
  name: "Output that cannot be written for another reason is told.",
  // The file that is always full.
  ignore: Deno.build.os !== "linux",
  fn: toFullDisk,
});

async function toFullDisk(): Promise<void> {
  await using folder = await Folder.make();
  const command = new Deno.Command("sh", {
    args: ["-c", 'exec "$@" > /dev/full', "sh", ...programCommand(["help"])],
    env: environment({}),
    clearEnv: true,
    cwd: folder.path,
  });
  const { code, stderr } = await command.output();
  assertEquals(code, 1);
  assertMatch(
    new TextDecoder().decode(stderr),
    /^kvdrive: Cannot write to standard output: No space left on device[^\n]*\n$/,
  );
}

Deno.test("A server with a closed output keeps running and prints new secrets to the other stream.", async () => {
  await using folder = await Folder.make();
  const PIPE = folder.at("pipe");
  // Chosen here, because the output that names the port is closed.
  const port = unusedPort();
  const args = ["serve", "--port", `${port}`, "--data", folder.at("data"), "--log", "json"];
  const process = new Deno.Command("sh", {
    args: ["-c", CLOSED, "sh", ...programCommand(args)],
    env: environment({ PIPE, CLOSES: "1" }),
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const output = process.output();
  try {
    const isUp = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then((answer) => answer.json()).then(
        () => true,
        () => false,
      );
    await waitUntil("the server answers", isUp);
    for (let i = 0; i < 20; i++) assertEquals(await isUp(), true);
  } finally {
    process.kill("SIGTERM");
  }
  const { code, stderr } = await output;
  assertEquals(code, 0);
  assertMatch(new TextDecoder().decode(stderr), /Project key: +\S+_[A-Za-z0-9]{32}\n/);
});

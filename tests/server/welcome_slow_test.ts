import { assert, assertEquals, assertMatch } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { Folder } from "../support/command.ts";
import { LaunchedServer } from "../support/launch.ts";
import { TerminalProgram } from "../support/terminal.ts";

const READY = /^kvdrive listening on (http\S+)$/m;
const CTRL_C = "\x03";

/** A server on a terminal, and what the terminal shows until it is stopped by Ctrl-C. */
async function onTerminal(
  folder: Folder,
  args: readonly string[] = [],
  work: (origin: string, text: string) => Promise<void> = () => Promise.resolve(),
  env: Record<string, string> = {},
): Promise<string> {
  const words = ["serve", "--port", "0", "--apps-port", "0", "--data", folder.at("data"), ...args];
  const program = await TerminalProgram.start(words, { columns: 120, env });
  let text = "";
  const ready = Promise.withResolvers<string>();
  program.onText = (piece) => {
    text += piece.replaceAll("\r\n", "\n");
    const origin = READY.exec(text)?.[1];
    if (origin !== undefined) ready.resolve(origin);
  };
  try {
    await work(await deadline(ready.promise, 90_000), text);
    await program.type(CTRL_C);
    assertEquals(await program.ended(), 0, text);
    return text;
  } catch (error) {
    throw new Error(text, { cause: error });
  } finally {
    await program.kill();
  }
}

async function signIn(origin: string, code: string): Promise<number> {
  const response = await fetch(`${origin}/dashboard/session`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: origin },
    body: JSON.stringify({ secret: code }),
  });
  await response.body?.cancel();
  return response.status;
}

Deno.test("The first start on a terminal is a welcome, with a link that signs in once.", async () => {
  await using folder = await Folder.makeOnDisk();
  const text = await onTerminal(folder, [], async (origin, shown) => {
    const [, place, code = ""] = /(http\S+)\/#code=(\w+)/.exec(shown) ?? [];
    assertEquals(place, origin);
    assertEquals(await signIn(origin, code), 200);
    assertEquals(await signIn(origin, code), 401);
  });
  assertMatch(text, /Welcome to kvdrive/);
  assertMatch(text, /^Project key: +\w+_\w{32}$/m);
  assert(!text.includes("\x1b["), "Formatting in spite of NO_COLOR");

  const later = await onTerminal(folder);
  assert(!/Welcome|#code|Project key/.test(later), later);
  assertMatch(later, /^The dashboard is at http/m);
});

Deno.test("Headings are formatted on a terminal, and secrets are not.", async () => {
  await using folder = await Folder.makeOnDisk();
  const text = await onTerminal(folder, [], undefined, { NO_COLOR: "", TERM: "xterm" });
  assert(text.includes("\x1b[1mWelcome to kvdrive"), text);
  assertMatch(text, /^Administrator's token: \w{32}$/m);
});

Deno.test("With --json the first line is JSON, on a terminal too.", async () => {
  await using folder = await Folder.makeOnDisk();
  await using server = await LaunchedServer.start([
    ...["serve", "--json", "--port", "0", "--apps-port", "auto", "--data", folder.at("data")],
    ...["--s3-port", "0"],
  ]);
  const [first = "", second] = server.text.split("\n");
  const { address, apps_address, s3_address, ...created } = JSON.parse(first);
  const { project_id, project_key, admin_token } = created;
  assertEquals([address, second], [server.origin, `kvdrive listening on ${server.origin}`]);
  for (const one of [apps_address, s3_address]) assertMatch(one, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert(project_key.startsWith(`${project_id}_`), project_key);
  assertMatch(admin_token, /^\w{32}$/);
  assertEquals((await server.stop()).code, 0);

  const shown = await onTerminal(folder, ["--json"]);
  const none = { project_id: null, project_key: null, admin_token: null };
  const { address: own, ...rest } = JSON.parse(shown.split("\n")[0] ?? "");
  assertMatch(own, /^http:/);
  assertEquals(rest, { apps_address: null, s3_address: null, ...none });
});

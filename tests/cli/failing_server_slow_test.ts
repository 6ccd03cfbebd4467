import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMIN_TOKEN } from "../support/admin.ts";
import { RunningCommand, waitUntil } from "../support/cli/client.ts";
import { ProfileDesk } from "../support/cli/profiles.ts";
import { broken, cutAfter, Proxy } from "../support/cli/proxy.ts";
import { type CommandResult, namesIn } from "../support/command.ts";
import { PROJECT_ID, PROJECT_KEY } from "../support/server.ts";
import { unusedPort } from "../support/processes/ports.ts";
import { TerminalProgram } from "../support/terminal.ts";

/** Commands that read or repeat safely, with what they print. `archive` is among them, as its answer is a stream. */
const COMMANDS: readonly (readonly [line: string, prints: RegExp])[] = [
  ["drive list", /photos/],
  ["link create photos:cat.jpg", /^http:.*\/s\//m],
  ["link list", /cat\.jpg/],
  ["trash list photos", /gone\.jpg/],
  ["upload list", /film/],
  ["upload abort photos:film", /Aborted 1 upload/],
  ["trash restore photos:gone.jpg", /Restored 1 file/],
  ["trash empty --yes", /for good/],
  ["archive photos: --force", /photos\.zip/],
  ["whoami", /a key of the project/],
  ["project show", /holds/],
  ["project change --trash-days 0", /holds/],
  ["key list", /PREFIX/],
  ["app list", /no applications/],
  ["event list", /upload|trash|key|project/],
];

/** The words of a command, with the project where it takes one. */
function wordsOf(line: string): string[] {
  const [group = "", verb = "", ...rest] = line.split(" ");
  const takesProject = ["project", "key", "app", "event"].includes(group);
  return takesProject ? [group, verb, PROJECT_ID, ...rest] : line.split(" ");
}

/** A drive with something for each command. */
async function fill(desk: ProfileDesk): Promise<void> {
  const post = async (path: string, body?: string) => {
    const answer = await desk.server.fetch("photos", path, {
      method: "POST",
      ...(body === undefined ? {} : { body }),
    });
    assert(answer.ok, await answer.text());
  };
  await desk.text("project", "change", PROJECT_ID, "--trash-days", "7");
  await post("/files?name=cat.jpg", "meow");
  await post("/files?name=gone.jpg", "gone");
  await desk.text("rm", "photos:gone.jpg", "--yes", "--project", PROJECT_ID);
  await post("/uploads?name=film");
}

/** Runs every command as a process through a proxy that treats the first request of each in some way. */
async function runAll(
  desk: ProfileDesk,
  proxy: Proxy,
  first: (request: Request, pass: () => Promise<Response>) => Promise<Response>,
): Promise<Map<string, CommandResult>> {
  const results = new Map<string, CommandResult>();
  for (const [line] of COMMANDS) {
    let isFirst = true;
    proxy.intercept = async (request, pass) => {
      if (!isFirst) return await pass();
      isFirst = false;
      return await first(request, pass);
    };
    const env = { ...desk.env, KVDRIVE_URL: proxy.origin, KVDRIVE_KEY: PROJECT_KEY };
    const command = new RunningCommand(wordsOf(line), env, desk.folder.path, undefined);
    results.set(line, await command.finished());
  }
  return results;
}

const TROUBLES: readonly {
  what: string;
  first: (request: Request, pass: () => Promise<Response>) => Promise<Response>;
}[] = [
  {
    what: "is slow",
    async first(_request, pass) {
      await delay(700);
      return await pass();
    },
  },
  { what: "is starting", first: () => Promise.resolve(new Response(null, { status: 503 })) },
  { what: "dies before it answers", first: () => Promise.resolve(broken()) },
];

for (const { what, first } of TROUBLES) {
  Deno.test(`Every command that asks a server succeeds if it ${what} and comes back.`, async () => {
    await using desk = await ProfileDesk.open();
    await desk.login();
    await fill(desk);
    await using proxy = Proxy.start(desk.server.origin);
    const results = await runAll(desk, proxy, first);
    for (const [line, prints] of COMMANDS) {
      const { code, stdout, stderr } = results.get(line) ?? { code: -1, stdout: "", stderr: "" };
      assertEquals(code, 0, `${line}: ${stderr}`);
      assertMatch(stdout, prints);
      // A wait is told once, on standard error.
      if (what === "is slow") assertEquals(stderr, "", line);
      else assertStringIncludes(stderr, "Retrying for up to 300 seconds", line);
    }
  });
}

Deno.test("Every command that asks a server ends with status 1 and one sentence if it stays away.", async () => {
  await using desk = await ProfileDesk.open();
  const url = `http://127.0.0.1:${unusedPort()}`;
  const env = { ...desk.env, KVDRIVE_URL: url, KVDRIVE_KEY: PROJECT_KEY };
  await Promise.all(COMMANDS.map(async ([line]) => {
    const words = [...wordsOf(line), "--retry-for", "0"];
    const { code, stdout, stderr } = await new RunningCommand(
      ...[words, env, desk.folder.path, undefined] as const,
    ).finished();
    assertEquals([code, stdout], [1, ""], line);
    assertMatch(stderr, /^kvdrive: Cannot reach .*Is the server running\?[^\n]*\n$/);
  }));
});

Deno.test("An archive that breaks off leaves nothing behind, and says so.", async () => {
  await using desk = await ProfileDesk.open();
  await desk.login();
  await fill(desk);
  await using proxy = Proxy.start(desk.server.origin);
  proxy.intercept = async (_request, pass) => cutAfter(await pass(), 50, delay(100));
  const env = { KVDRIVE_URL: proxy.origin, KVDRIVE_KEY: PROJECT_KEY };
  const target = desk.folder.at("photos.zip");
  const { code, stdout, stderr } = await desk.run(["archive", "photos:", "-o", target], env);
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /^kvdrive: The connection to \S+ broke[^\n]*\n$/);
  assertEquals((await namesIn(desk.folder.path)).filter((name) => /zip|part/.test(name)), []);
});

Deno.test("Lists are readable on a terminal, and questions are asked there.", async () => {
  await using desk = await ProfileDesk.open();
  await desk.login();
  await fill(desk);
  const env = { ...desk.env, KVDRIVE_URL: desk.server.origin, KVDRIVE_KEY: PROJECT_KEY };
  const show = async (words: string[], answer?: string): Promise<[number, string]> => {
    const program = await TerminalProgram.start(words, { columns: 160, env });
    let text = "";
    program.onText = (piece) => text += piece;
    if (answer !== undefined) {
      await waitUntil("the question is there", () => text.includes("[y/N] "));
      await program.type(answer);
    }
    const code = await program.ended();
    await program.kill();
    return [code, text];
  };
  const [code, text] = await show(["drive", "list"]);
  assertEquals(code, 0);
  assertMatch(text, /photos +1 +4 B/);
  const [refused, question] = await show(["drive", "delete", "photos"], "n\n");
  assertEquals(refused, 1);
  assertMatch(question, /Delete the drive photos of the project \S+ with its 1 file \(4 B\)\?/);
  const [emptied] = await show(["trash", "empty", "photos"], "y\n");
  assertEquals(emptied, 0);
  assertEquals((await desk.run(["trash", "list"], env)).stdout, "The trash is empty.\n");
  assert(!text.includes(ADMIN_TOKEN));
});

/**
 * The documentation: the blocks marked `sh run` work. All such blocks of one page are run in their order, by one `bash`,
 * in a temporary folder, against a server of their own. They find these variables: `KVDRIVE_URL`, `KVDRIVE_KEY`,
 * `KVDRIVE_DATA`, `ADMIN_TOKEN` and `GATE`. A line that is meant to be refused ends with the status as a comment: `# 412`.
 *
 * @module
 */
import { deadline } from "@std/async/deadline";
import { ADMIN_TOKEN } from "./support/admin.ts";
import { environment, Folder, programCommand } from "./support/command.ts";
import { Page } from "./support/cli/docs.ts";
import { PROJECT_KEY, TestServer } from "./support/server.ts";
import { UpstreamApp } from "./support/gate/upstream_app.ts";

/** When the blocks of one page count as hanging, in milliseconds: other tests use the processors at the same time. */
const PAGE_TIME = 180_000;

/** Pages whose blocks run at once. Each has a server, and commands that start a process each. */
const PAGES_AT_ONCE = 2;

/** Where the examples say that an application runs. */
const EXAMPLE_UPSTREAM = "http://127.0.0.1:3000";

const PAGES = await Page.all();

/** Programs that the pages use besides `kvdrive`. */
const PROGRAMS = ["bash", "curl", "openssl", "tar"];

Deno.test({
  name: `the commands of every page work, if ${PROGRAMS.join(", ")} are installed`,
  ignore: !PROGRAMS.every(isInstalled),
  fn: runPages,
});

async function runPages(): Promise<void> {
  const waiting = [...PAGES];
  const failed: string[] = [];
  const runNext = async (): Promise<void> => {
    const page = waiting.shift();
    if (page === undefined) return;
    const problem = await problemOf(page);
    if (problem !== undefined) failed.push(`${page.path}: ${problem}`);
    await runNext();
  };
  await Promise.all(Array.from({ length: PAGES_AT_ONCE }, runNext));
  const text = failed.join("\n");
  if (text !== "") throw new Error(text);
}

/** Runs the blocks of a page, and returns what went wrong, if anything. */
async function problemOf(page: Page): Promise<string | undefined> {
  const blocks = page.blocks("sh run");
  if (blocks.length === 0) return undefined;
  await using folder = await Folder.make();
  await using upstream = new UpstreamApp();
  await using server = await TestServer.start({
    args: ["--apps-port", "auto"],
    env: { KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN },
  });
  const script = blocks.join("\n").replaceAll(EXAMPLE_UPSTREAM, upstream.origin);
  const { code, output } = await runScript(script, folder, server);
  if (code !== 0) return `exit status ${code}: ${output}`;
  const statuses = [...output.matchAll(/^status (\d+)$/gm)].map(([, status]) => Number(status));
  const refusals = statuses.filter((status) => status >= 400);
  return String(refusals) === String(expectedRefusals(script)) ? undefined : output;
}

function isInstalled(program: string): boolean {
  const args = ["-c", 'command -v "$1"', "sh", program];
  return new Deno.Command("sh", { args, stdout: "null" }).outputSync().success;
}

/** The statuses of the lines that are meant to be refused, in order. */
function expectedRefusals(script: string): number[] {
  return [...script.matchAll(/# ([45]\d\d)$/gm)].map(([, status]) => Number(status));
}

/** Runs a script of a page, and returns its exit status and everything that it printed. */
async function runScript(
  script: string,
  folder: Folder,
  server: TestServer,
): Promise<{ code: number; output: string }> {
  const gate = /^Applications are at (\S+)$/m.exec(server.text)?.[1] ?? "";
  const process = new Deno.Command("bash", {
    args: ["-c", `exec 2>&1\n${PRELUDE}\n${script}`],
    cwd: folder.path,
    env: environment({
      ADMIN_TOKEN,
      GATE: gate,
      KVDRIVE_DATA: server.data,
      KVDRIVE_KEY: PROJECT_KEY,
      KVDRIVE_URL: server.origin,
      XDG_STATE_HOME: folder.at(".state"),
      XDG_CONFIG_HOME: folder.at(".config"),
    }),
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const output = process.output();
  try {
    const { code, stdout } = await deadline(output, PAGE_TIME);
    return { code, output: new TextDecoder().decode(stdout) };
  } catch (error) {
    process.kill("SIGKILL");
    throw error;
  }
}

/** What makes `kvdrive` the program under test, and `curl` print each status. The first command that fails is the last. */
const PRELUDE = `set -euxo pipefail
kvdrive() { ${programCommand([]).map((word) => `'${word}'`).join(" ")} "$@"; }
curl() { command curl -sS -w '%{stderr}\\nstatus %{http_code}\\n' "$@"; }`;

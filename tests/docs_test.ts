/**
 * The documentation: links lead somewhere, and the blocks marked `sh run` work. All such blocks of one page are run in
 * their order, by one `bash`, in a temporary folder, against a server of their own. They find these variables:
 * `KVDRIVE_URL`, `KVDRIVE_KEY`, `KVDRIVE_DATA`, `ADMIN_TOKEN` and `GATE`. A line that is meant to be refused ends with
 * the status as a comment: `# 412`.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { ADMIN_TOKEN } from "./support/admin.ts";
import { environment, Folder, programCommand } from "./support/command.ts";
import { exists, Page, ROOT_PATH } from "./support/docs.ts";
import { PROJECT_KEY, TestServer } from "./support/server.ts";
import { UpstreamApp } from "./support/gate/upstream_app.ts";

/** How long the blocks of one page may take, in milliseconds. */
const PAGE_TIME = 60_000;

/** Where the examples say that an application runs. */
const EXAMPLE_UPSTREAM = "http://127.0.0.1:3000";

const PAGES = await Page.all();

Deno.test("every relative link in the documentation leads to a file and a heading", async () => {
  const broken: string[] = [];
  for (const page of PAGES) {
    for (const link of page.links()) {
      if (/^[a-z]+:/.test(link)) continue;
      const [target = "", anchor = ""] = link.split("#");
      const path = target === "" ? page.path : page.resolve(target);
      const isThere = await exists(path) &&
        (anchor === "" || (await Page.read(path)).anchors().has(anchor));
      if (!isThere) broken.push(`${page.path}: ${link}`);
    }
  }
  assertEquals(broken, []);
});

Deno.test("every source that the documentation names exists", async () => {
  const missing: string[] = [];
  for (const page of PAGES) {
    for (const source of page.sources()) {
      if (!await exists(source)) missing.push(`${page.path}: ${source}`);
    }
  }
  assertEquals(missing, []);
});

Deno.test("every page of docs/ is in the README's index", async () => {
  const readme = await Page.read("README.md");
  const linked = new Set(readme.links().map((link) => readme.resolve(link)));
  assertEquals(PAGES.map(({ path }) => path).filter((path) => !linked.has(path)), ["README.md"]);
});

Deno.test("every page names the version of Deno that CI uses", async () => {
  const [version] = /(?<=deno@)[\d.]+/.exec(await Deno.readTextFile(`${ROOT_PATH}.ci/run`)) ?? [];
  for (const page of PAGES) {
    for (const named of page.denoVersions()) assertEquals(named, version, page.path);
  }
});

Deno.test("the README's start command starts a server that prints its key", async () => {
  const [block = ""] = (await Page.read("README.md")).blocks("sh start");
  const [, words = ""] = /^npx -y deno@\S+ (\w.*?)\s*(?:#|$)/m.exec(block) ?? [];
  assert(words !== "", `No start command in the README: ${block}`);
  await using folder = await Folder.makeOnDisk();
  const settings = { KVDRIVE_PORT: "0", KVDRIVE_DATA: folder.at("data") };
  const process = new Deno.Command(Deno.execPath(), {
    args: words.split(" "),
    cwd: ROOT_PATH,
    env: environment(settings),
    clearEnv: true,
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let text = "";
  let isStopped = false;
  for await (const piece of process.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    // The loop ends with the server. A second signal would end it without a clean shutdown.
    if (isStopped || !/^kvdrive listening on http/m.test(text)) continue;
    process.kill("SIGTERM");
    isStopped = true;
  }
  assertMatch(text, /Project key: +\w+_\w{32}/);
  assertEquals((await process.status).code, 0, text);
});

/** Programs that the pages use besides `kvdrive`. */
const PROGRAMS = ["bash", "curl", "openssl", "tar"];

Deno.test({
  name: `the commands of every page work, if ${PROGRAMS.join(", ")} are installed`,
  ignore: !PROGRAMS.every(isInstalled),
  fn: runPages,
});

async function runPages(): Promise<void> {
  const runs = PAGES.map(async (page) => ({ page: page.path, problem: await problemOf(page) }));
  const failed = (await Promise.all(runs)).filter(({ problem }) => problem !== undefined);
  const text = failed.map(({ page, problem }) => `${page}: ${problem}`).join("\n");
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

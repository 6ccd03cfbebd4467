/**
 * The documentation: links lead somewhere, and the start command works. `docs_slow_test.ts` runs the examples.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { environment, Folder } from "./support/command.ts";
import { exists, Page, ROOT_PATH } from "./support/cli/docs.ts";

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

Deno.test("every function and class that the documentation places in a source is there", async () => {
  const missing: string[] = [];
  for (const page of PAGES) {
    for (const { name, source } of page.definitions()) {
      const code = await Deno.readTextFile(ROOT_PATH + source);
      if (!new RegExp(`\\b${name}\\b`).test(code)) {
        missing.push(`${page.path}: ${name} in ${source}`);
      }
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

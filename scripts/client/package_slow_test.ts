import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import config from "../../deno.json" with { type: "json" };
import { ROOT } from "../package/parts.ts";
import { makeClientPackage } from "./package.ts";

const KEY = "test-project_0123456789abcdefghijABCDEFGHIJ";
const CHECK = new URL("runtime_check.js", import.meta.url);
const BUN = "bun@1.4.5";

/** A program that uses the types of the package. */
const TYPED = `import { connect, type DriveFile, KvdriveError, type Link } from "kvdrive-client";
const photos = connect({ url: "https://files.example.com", key: "p1_x" }).drive("photos");
export async function run(blob: Blob): Promise<Link> {
  await photos.put("a", blob, { expiresIn: 5, onProgress: ({ sent }) => sent.toFixed() });
  const file: DriveFile | undefined = await photos.get("a", { range: { start: 1 } });
  for await (const { name, size } of photos.list()) name.at(size ?? 0);
  if (file === undefined) throw new KvdriveError("", { code: "file_not_found" });
  // @ts-expect-error A misspelt option
  await photos.put("a", "b", { contenttype: "text/plain" });
  return await photos.links.create({ name: "a" });
}
`;

interface Result {
  code: number;
  text: string;
}

async function run(program: string, args: string[], cwd: string): Promise<Result> {
  const command = new Deno.Command(program, { args, cwd, stdin: "null" });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** Runs a server while `work` runs. */
async function withServer(folder: string, work: (url: string) => Promise<void>): Promise<void> {
  const args = ["run", "--no-prompt", "-A", "main.ts", "serve", "--port", "0", "--data", folder];
  const process = new Deno.Command(Deno.execPath(), {
    args,
    cwd: ROOT,
    env: { KVDRIVE_PROJECT_KEY: KEY, KVDRIVE_APPS_PORT: "0" },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let text = "";
  let isUsed = false;
  let failure: { error: unknown } | undefined;
  for await (const piece of process.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const [, url] = /^kvdrive listening on (http\S+)$/m.exec(text) ?? [];
    if (isUsed || url === undefined) continue;
    isUsed = true;
    await work(url).catch((error: unknown) => {
      failure = { error };
    });
    process.kill("SIGTERM");
  }
  await process.status;
  if (failure !== undefined) throw failure.error;
  assert(isUsed, text);
}

Deno.test("The npm package of the client works in an empty folder", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-client-" });
  try {
    const file = await makeClientPackage(join(folder, "dist"));
    const project = join(folder, "project");
    await Deno.mkdir(project);
    await Deno.writeTextFile(join(project, "package.json"), '{ "type": "module" }');
    const install = ["install", "--no-audit", "--no-fund"];
    const { code, text } = await run("npm", [...install, file], project);
    assertEquals(code, 0, text);
    await Deno.copyFile(CHECK, join(project, "check.js"));
    await Deno.writeTextFile(join(project, "typed.ts"), TYPED);
    const installed = join(project, "node_modules/kvdrive-client");
    await t.step("It has its version, a license, and no dependency", async () => {
      const text = await Deno.readTextFile(join(installed, "package.json"));
      const { name, version, dependencies, scripts } = JSON.parse(text);
      assertEquals([name, version], ["kvdrive-client", config.version]);
      assertEquals([dependencies, scripts], [undefined, undefined]);
      for (const path of ["README.md", "LICENSE", "mod.js", "mod.d.ts"]) {
        assert((await Deno.stat(join(installed, path))).size > 0);
      }
    });
    await t.step("Its types are found and right", async () => {
      await Deno.writeTextFile(join(project, "deno.json"), '{ "nodeModulesDir": "manual" }');
      const { code, text } = await run(Deno.execPath(), ["check", "typed.ts"], project);
      assertEquals(code, 0, text);
      await Deno.remove(join(project, "deno.json"));
    });
    await withServer(join(folder, "data"), async (url) => {
      await t.step("It works in Node.js", async () => {
        assertEquals(await run("node", ["check.js", url, KEY], project), { code: 0, text: "ok\n" });
      });
      await t.step("It works in Deno", async () => {
        const args = ["run", "--no-prompt", "--allow-net", "--node-modules-dir=manual", "check.js"];
        const result = await run(Deno.execPath(), [...args, url, KEY], project);
        assertEquals(result, { code: 0, text: "ok\n" });
      });
      const hasBun = (await run("npm", [...install, "--no-save", BUN], project)).code === 0;
      await t.step({
        name: "It works in Bun, if that can be installed",
        ignore: !hasBun,
        fn: async () => {
          const bun = join(project, "node_modules/.bin/bun");
          assertEquals(await run(bun, ["check.js", url, KEY], project), { code: 0, text: "ok\n" });
        },
      });
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

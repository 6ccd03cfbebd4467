/**
 * The documentation: the blocks of docs/install.md marked `sh install` work in a clone. They install into
 * folders of the test.
 *
 * @module
 */
import { assert } from "@std/assert";
import { Page, ROOT_PATH } from "./support/cli/docs.ts";
import { EXECUTABLE, Folder } from "./support/command.ts";

/** What a clone has, besides documentation. */
const CLONED = [
  "deno.json",
  "deno.lock",
  "main.ts",
  "LICENSE",
  "README.md",
  "src",
  "scripts",
  "tests",
];
const PROGRAMS = ["bash", "npm", "tar", "cp"];

Deno.test({
  name: "the commands that install kvdrive from a clone work",
  // They are about the sources.
  ignore: EXECUTABLE !== undefined || !PROGRAMS.every(isInstalled),
  async fn(t) {
    await using folder = await Folder.makeOnDisk();
    const clone = folder.at("a clone");
    await Deno.mkdir(clone);
    const paths = CLONED.map((path) => `${ROOT_PATH}${path}`);
    await run("cp", ["--recursive", ...paths, clone], {});
    const bin = folder.at("bin");
    await Deno.mkdir(bin);
    await Deno.symlink(Deno.execPath(), `${bin}/deno`);
    for (
      const [index, block] of (await Page.read("docs/install.md")).blocks("sh install").entries()
    ) {
      const root = folder.at(`root-${index}`);
      await t.step(`Block ${index + 1}`, () => runBlock(block, { root, bin, clone }));
    }
  },
});

/** Runs a block in the clone, with npm and Deno installing into the folder `root`. */
async function runBlock(
  block: string,
  { root, bin, clone }: { root: string; bin: string; clone: string },
): Promise<void> {
  const text = await run("bash", ["-euo", "pipefail", "-c", `cd "$CLONE"\n${block}`], {
    CLONE: clone,
    DENO_INSTALL_ROOT: root,
    npm_config_prefix: root,
    npm_config_update_notifier: "false",
    PATH: `${root}/bin:${bin}:${Deno.env.get("PATH")}`,
  });
  assert(/^kvdrive \d+\.\d+\.\d+ \(from source, deno /m.test(text), text);
}

async function run(program: string, args: string[], env: Record<string, string>): Promise<string> {
  const options = { args, env, stdin: "null" } as const;
  const { success, stdout, stderr } = await new Deno.Command(program, options).output();
  const text = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
  assert(success, text);
  return text;
}

function isInstalled(program: string): boolean {
  const args = ["-c", 'command -v "$1"', "sh", program];
  return new Deno.Command("sh", { args, stdout: "null" }).outputSync().success;
}

/**
 * The blocks of `docs/s3.md` marked `s3` work. They are run in their order, in one temporary folder.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { ADMIN_TOKEN } from "../support/admin.ts";
import { type Block, Page } from "../support/cli/docs.ts";
import { isInstalled, runProgram } from "./support/programs.ts";
import { IS_PEER, S3Site } from "./support/site.ts";
import config from "./deno.json" with { type: "json" };

/** What runs a block, by the first word behind its fence. */
const LANGUAGES: Record<string, { file: string; command: [string, ...string[]] }> = {
  sh: { file: "block.sh", command: ["bash", "-euo", "pipefail"] },
  python: { file: "block.py", command: ["python3"] },
  js: {
    file: "block.js",
    command: [Deno.execPath(), "run", "-A", "--no-lock", "--import-map=imports.json"],
  },
};

const PROGRAMS = ["bash", "curl", "aws", "python3", "rclone", "restic", "s3cmd"];

Deno.test({
  name: `the commands of docs/s3.md work, if ${PROGRAMS.join(", ")} are installed`,
  ignore: IS_PEER || !PROGRAMS.every(isInstalled),
  async fn(t) {
    await using site = await S3Site.start("http");
    const { folder, server, projectId: PROJECT } = site;
    await folder.write("imports.json", JSON.stringify(config));
    const env = {
      ADMIN_TOKEN,
      KVDRIVE_URL: server.origin,
      PROJECT,
      // The packages that were loaded for the tests.
      DENO_DIR: await denoFolder(),
      // As the tasks have it, for a machine whose proxy has an authority of its own.
      DENO_TLS_CA_STORE: "mozilla,system",
    };
    const blocks = await blocksOf("docs/s3.md");
    assert(blocks.length >= 7);
    for (const { info, code } of blocks) {
      const [language = ""] = info.split(" ");
      const { file, command } = LANGUAGES[language] ?? {};
      assert(file !== undefined && command !== undefined, info);
      await t.step(`${language}: ${code.split("\n", 1)[0]}`, async () => {
        await folder.write(file, prepared(language, code));
        const { code: status, stdout, stderr } = await runProgram(site, [...command, file], {
          env,
        });
        assertEquals(status, 0, `${code}\n${stdout}${stderr}`);
      });
      await Deno.remove(folder.at(file));
    }
  },
});

/** A script of the shell in which a refused request fails. */
function prepared(language: string, code: string): string {
  return language === "sh" ? `curl() { command curl -sSf "$@"; }\n${code}` : code;
}

async function blocksOf(path: string): Promise<Block[]> {
  return (await Page.read(path)).allBlocks().filter(({ info }) => / s3$/.test(info));
}

/** Where Deno keeps its packages. */
async function denoFolder(): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), { args: ["info", "--json"], stdout: "piped" });
  const { stdout } = await command.output();
  const { denoDir } = JSON.parse(new TextDecoder().decode(stdout)) as { denoDir: string };
  return denoDir;
}

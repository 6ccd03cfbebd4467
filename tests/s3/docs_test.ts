/**
 * The blocks of `docs/s3.md` and `docs/minio.md` marked `s3` work. Those of a page are run in their order, in one temporary
 * folder.
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
    assert(await runPage(t, site, "docs/s3.md") >= 7);
  },
});

Deno.test({
  name: "the commands of docs/minio.md move buckets from another server, if rclone is installed",
  ignore: IS_PEER || !["bash", "curl", "rclone"].every(isInstalled),
  async fn(t) {
    await using minio = await S3Site.start("http");
    await using site = await S3Site.start("http");
    const objects = { "photos/2021/a b.jpg": "a", "photos/ü.txt": "", "letters/1.txt": "Dear" };
    for (const folder of ["photos/2021", "letters"]) {
      await Deno.mkdir(minio.folder.at(folder), { recursive: true });
    }
    for (const [path, text] of Object.entries(objects)) await minio.folder.write(path, text);
    const remote = ":s3,provider=Other,env_auth=true:";
    const upload = ["rclone", "copy", ".", remote, "--s3-endpoint", minio.endpoint] as const;
    const { code, stderr } = await runProgram(minio, [...upload]);
    assertEquals(code, 0, stderr);
    await runPage(t, site, "docs/minio.md", {
      MINIO_URL: minio.endpoint,
      MINIO_ACCESS_KEY: minio.keys.accessKeyId,
      MINIO_SECRET_KEY: minio.keys.secretAccessKey,
    });
    const list = ["rclone", "lsf", "--recursive", "--files-only", "kv:"] as const;
    const { stdout } = await runProgram(site, [...list]);
    assertEquals(stdout.trim().split("\n").toSorted(), Object.keys(objects).toSorted());
  },
});

/** Runs the blocks of a page, and returns how many it has. */
async function runPage(
  t: Deno.TestContext,
  site: S3Site,
  path: string,
  more: Record<string, string> = {},
): Promise<number> {
  const { folder, server, projectId: PROJECT } = site;
  await folder.write("imports.json", JSON.stringify(config));
  const env = {
    ...more,
    ADMIN_TOKEN,
    KVDRIVE_URL: server.origin,
    PROJECT,
    // The packages that were loaded for the tests.
    DENO_DIR: await denoFolder(),
    // As the tasks have it, for a machine whose proxy has an authority of its own.
    DENO_TLS_CA_STORE: "mozilla,system",
  };
  const blocks = await blocksOf(path);
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
  return blocks.length;
}

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

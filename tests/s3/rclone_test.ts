/**
 * rclone, configured by its environment as in `docs/s3.md`.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import {
  assertTree,
  isInstalled,
  programTest,
  runProgram,
  sampleFolders,
  succeed,
} from "./support/programs.ts";
import type { S3Site } from "./support/site.ts";

/** The remote `kv:`. */
function remote(site: S3Site): Record<string, string> {
  return {
    RCLONE_CONFIG_KV_TYPE: "s3",
    RCLONE_CONFIG_KV_PROVIDER: "Other",
    RCLONE_CONFIG_KV_ENDPOINT: site.endpoint,
    RCLONE_CONFIG_KV_ENV_AUTH: "true",
    ...site.authority && { RCLONE_CA_CERT: site.authority },
    // Only the other clients can use its file.
    AWS_CA_BUNDLE: "",
  };
}

programTest("rclone", async (site, step) => {
  await using folders = await sampleFolders();
  const { from, to, tree } = folders;
  const env = remote(site);
  const rclone = (...args: string[]) => succeed(site, ["rclone", ...args], { env });

  await step("a folder is copied there and back, with its times", async () => {
    const time = new Date("2001-02-03T04:05:06.789Z");
    await Deno.utime(`${from}/small.txt`, time, time);
    await rclone("mkdir", "kv:sync");
    await rclone("copy", from, "kv:sync/copy");
    await rclone("copy", "kv:sync/copy", to);
    await assertTree(to, tree);
    assertEquals(Number((await Deno.stat(`${to}/small.txt`)).mtime), Number(time));
  });

  await step("a check compares the checksums", async () => {
    const { stderr, code } = await runProgram(site, ["rclone", "check", from, "kv:sync/copy"], {
      env,
    });
    assertEquals(code, 0, stderr);
    assertStringIncludes(stderr, "0 differences found");
    await rclone("check", "--download", from, "kv:sync/copy");
  });

  await step("parts are sent at the same time, with a checksum of the whole", async () => {
    const chunks = ["--s3-upload-cutoff", "5M", "--s3-chunk-size", "5M"];
    await rclone("copy", ...chunks, "--s3-upload-concurrency", "4", from, "kv:sync/chunks");
    await rclone("check", from, "kv:sync/chunks");
  });

  await step("a synchronization removes and changes what it has to, and no more", async () => {
    await rclone("sync", from, "kv:sync/copy");
    await Deno.writeTextFile(`${from}/small.txt`, "Changed");
    await Deno.remove(`${from}/folder/inner`, { recursive: true });
    const { stderr } = await runProgram(site, ["rclone", "sync", "-v", from, "kv:sync/copy"], {
      env,
    });
    assertStringIncludes(stderr, "small.txt: Copied (replaced existing)");
    assertStringIncludes(stderr, "deep.bin: Deleted");
    assert(!stderr.includes("large.bin: "), stderr);
    await rclone("check", from, "kv:sync/copy");
  });

  await step("objects are copied and moved on the server, and their times are set", async () => {
    await rclone("copyto", "kv:sync/copy/small.txt", "kv:sync/other name.txt");
    await rclone("moveto", "kv:sync/other name.txt", "kv:sync/moved+name.txt");
    await rclone("touch", "--timestamp", "2002-03-04T05:06:07", "kv:sync/moved+name.txt");
    assertStringIncludes(await rclone("lsl", "kv:sync/moved+name.txt"), "2002-03-04 05:06:07");
    assertEquals(await rclone("cat", "kv:sync/moved+name.txt"), "Changed");
  });

  await step("a stream of unknown length", async () => {
    const command = "printf streamed | rclone rcat kv:sync/rcat && rclone cat kv:sync/rcat";
    assertEquals(await succeed(site, ["sh", "-c", command], { env }), "streamed");
  });

  await step(
    "a mounted bucket is read and written as a folder",
    () => useMounted(site, env, tree["folder/large.bin"] ?? new Uint8Array()),
  );

  await step("everything is removed", async () => {
    await rclone("purge", "kv:sync");
    assertEquals(await rclone("lsd", "kv:"), "");
  });
});

/** How often an expected state is polled, and the milliseconds in between. */
const LOOKS = 600;
const PAUSE = 100;

async function becomes(look: () => Promise<string>, expected: string): Promise<void> {
  for (let count = 0; count < LOOKS; count++) {
    if (await look() === expected) return;
    await delay(PAUSE);
  }
  assertEquals(await look(), expected);
}

async function useMounted(
  site: S3Site,
  env: Record<string, string>,
  expected: Uint8Array,
): Promise<void> {
  const rclone = (...args: string[]) => succeed(site, ["rclone", ...args], { env });
  const isDone = await withMount(site, env, async (path) => {
    assertEquals(await Deno.readTextFile(`${path}/copy/small.txt`), "Changed");
    const large = await Deno.readFile(`${path}/copy/folder/large.bin`);
    assertSameBytes(large, expected);
    const bytes = patternBytes(7 * MIB, 9);
    await Deno.mkdir(`${path}/new folder`);
    await Deno.writeFile(`${path}/new folder/file`, bytes);
    // It uploads after a file was closed, and loses one that is renamed meanwhile.
    await becomes(() => rclone("size", "--json", "kv:sync/new folder/file"), sizeOf(1, 7 * MIB));
    await Deno.rename(`${path}/new folder/file`, `${path}/new folder/renamed`);
    await becomes(() => rclone("lsf", "kv:sync/new folder"), "renamed\n");
    await Deno.remove(`${path}/copy/small.txt`);
  });
  if (!isDone) return;
  const left = await rclone("lsf", "--files-only", "kv:sync/copy");
  assert(!left.includes("small.txt"), left);
}

function sizeOf(count: number, bytes: number): string {
  return `${JSON.stringify({ count, bytes, sizeless: 0 })}\n`;
}

/** Whether file systems of programs may be mounted here. */
const CAN_MOUNT = isInstalled("fusermount") && hasDevice();

function hasDevice(): boolean {
  try {
    Deno.openSync("/dev/fuse", { read: true, write: true }).close();
    return true;
  } catch {
    return false;
  }
}

/** Mounts the bucket while something runs. @returns false where nothing can be mounted. */
async function withMount(
  site: S3Site,
  env: Record<string, string>,
  use: (path: string) => Promise<void>,
): Promise<boolean> {
  if (!CAN_MOUNT) return false;
  const path = site.folder.at("mounted");
  await Deno.mkdir(path, { recursive: true });
  const process = new Deno.Command("rclone", {
    args: ["mount", "--vfs-cache-mode", "writes", "--vfs-write-back", "0s", "kv:sync", path],
    env: { ...site.environment(), ...env },
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const said = new Response(process.stderr).text();
  try {
    if (!await isMounted(path, process)) return false;
    await use(path);
    return true;
  } finally {
    await end(process);
    await said;
  }
}

/** Waits until a folder is mounted. @returns false where the program may not mount. */
async function isMounted(path: string, process: Deno.ChildProcess): Promise<boolean> {
  let hasEnded = false;
  process.status.then(() => hasEnded = true);
  while (!hasEnded) {
    if ((await Deno.readTextFile("/proc/mounts")).includes(path)) return true;
    await delay(50);
  }
  return false;
}

/** Ends it, unless it has ended by itself. */
async function end(process: Deno.ChildProcess): Promise<void> {
  try {
    process.kill("SIGTERM");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  await process.status;
}

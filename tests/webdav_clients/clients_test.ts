/**
 * Programs that speak WebDAV: the test suite litmus, and clients. Those that are not installed are left out.
 *
 * @module
 */
import { assert, assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { patternBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { PROJECT_KEY, TestServer } from "../support/server.ts";
import { Dav } from "../webdav/support/dav.ts";
import { assertTree, isInstalled, type Tree, writeTree } from "../s3/support/programs.ts";

/** How long a program may take, in milliseconds. */
const PATIENCE = 240_000;

/** The user name of HTTP Basic, which may be any. */
const USER = "anyone";

/** A server with an empty drive, and a folder for a client. */
interface Site {
  dav: Dav;
  drive: Drive;
  folder: Folder;
  /** Runs a program in the folder. Fails unless it succeeds. @returns its output. */
  run(
    command: readonly [string, ...string[]],
    options?: { stdin?: string; env?: Record<string, string> },
  ): Promise<string>;
}

function clientTest(
  name: string,
  programs: readonly string[],
  test: (site: Site) => Promise<void>,
) {
  Deno.test({
    name: `${name}, if it is installed`,
    ignore: !programs.every(isInstalled),
    async fn() {
      await using server = await TestServer.start();
      await using folder = await Folder.make();
      const drive = new Drive(server, "net");
      const dav = new Dav(drive);
      await dav.make();
      await test({ dav, drive, folder, run: (...args) => runIn(folder, ...args) });
    },
  });
}

async function runIn(
  folder: Folder,
  [program, ...args]: readonly [string, ...string[]],
  { stdin = "", env = {} }: { stdin?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const home = folder.path;
  const process = new Deno.Command(program, {
    args,
    cwd: home,
    env: {
      PATH: `${Deno.env.get("PATH")}:/usr/sbin`,
      HOME: home,
      LANG: "C.UTF-8",
      XDG_RUNTIME_DIR: home,
      DENO_TLS_CA_STORE: "mozilla,system",
      ...env,
    },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(stdin));
  await writer.close();
  const { code, stdout, stderr } = await deadline(process.output(), PATIENCE);
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assertEquals(code, 0, `${program} ${args.join(" ")}: ${text}`);
  return text;
}

/** Files as people have them, small enough for every client. */
function tree(): Tree {
  const bytes = (text: string) => new TextEncoder().encode(text);
  return {
    "empty": new Uint8Array(),
    "small.txt": bytes("Hello, world\n"),
    "name with spaces.txt": bytes("spaces"),
    "plus+percent%41.txt": bytes("plus"),
    "été ключ 日本 🦖.txt": bytes("unicode"),
    "it's [a] {test} & #1!.txt": bytes("marks"),
    "folder/inner/deep.bin": patternBytes(300_000, 2),
    "folder/large.bin": patternBytes(12_000_001, 4),
  };
}

clientTest("litmus passes whole", ["litmus"], async ({ dav, run }) => {
  const text = await run(["litmus", "-k", dav.url(), USER, PROJECT_KEY]);
  for (const suite of ["basic", "copymove", "props", "locks", "http"]) {
    assertStringIncludes(text, `summary for \`${suite}'`);
  }
  assertNotMatch(text, /FAIL|WARNING|SKIPPED/);
});

clientTest("cadaver", ["cadaver"], async ({ dav, drive, folder, run }) => {
  const host = new URL(dav.url()).hostname;
  await Deno.writeTextFile(
    folder.at(".netrc"),
    `machine ${host} login ${USER} password ${PROJECT_KEY}\n`,
  );
  await Deno.writeTextFile(folder.at("a b.txt"), "Hello\n");
  const script = [
    ...["mkcol trip", "cd trip", 'put "a b.txt"', "ls", 'copy "a b.txt" copy.txt'],
    ...["move copy.txt moved.txt", "lock moved.txt", "discover moved.txt", "unlock moved.txt"],
    ...["propset moved.txt colour red", "propget moved.txt colour", "get moved.txt back.txt"],
    ...['delete "a b.txt"', "cd ..", "ls", "quit"],
  ];
  const text = await run(["cadaver", dav.url()], { stdin: script.join("\n") });
  assertNotMatch(text, /failed|error/i);
  assertStringIncludes(text, "red");
  assertEquals(await Deno.readTextFile(folder.at("back.txt")), "Hello\n");
  assertEquals(await drive.names(), ["trip/moved.txt"]);
});

clientTest("curl", ["curl"], async ({ dav, drive, folder, run }) => {
  const user = `${USER}:${PROJECT_KEY}`;
  const large = patternBytes(3_000_000);
  await Deno.writeFile(folder.at("large"), large);
  // From standard input: without a length. Larger ones wait for "100 Continue".
  await run(["curl", "-fsS", "-u", user, "-T", "large", dav.url("a")]);
  await run(["curl", "-fsS", "-u", user, "-T", "-", dav.url("b")], { stdin: "streamed" });
  const moved = ["-X", "MOVE", "-H", `Destination: ${dav.url("c")}`, dav.url("b")];
  await run(["curl", "-fsS", "-u", user, ...moved]);
  await run(["curl", "-fsS", "-u", user, "-o", "back", dav.url("a")]);
  assertEquals((await Deno.readFile(folder.at("back"))).length, large.length);
  assertEquals(await drive.names(), ["a", "c"]);
  assertEquals(await drive.text("c"), "streamed");
});

clientTest(
  "rclone copies, checks and synchronizes",
  ["rclone"],
  async ({ dav, drive, folder, run }) => {
    const password = (await run(["rclone", "obscure", PROJECT_KEY])).trim();
    const files = tree();
    await writeTree(folder.at("from"), files);
    for (const vendor of ["other", "nextcloud"]) {
      const env = {
        RCLONE_CONFIG: "/dev/null",
        RCLONE_CONFIG_KV_TYPE: "webdav",
        RCLONE_CONFIG_KV_URL: dav.url(),
        RCLONE_CONFIG_KV_VENDOR: vendor,
        RCLONE_CONFIG_KV_USER: USER,
        RCLONE_CONFIG_KV_PASS: password,
        RCLONE_CONFIG_KV_NEXTCLOUD_CHUNK_SIZE: "0",
      };
      const there = `kv:${vendor}`;
      const rclone = (...args: string[]) => run(["rclone", ...args], { env });
      await rclone("copy", "from", there);
      await rclone("check", "--download", "from", there);
      await rclone("copy", there, `to-${vendor}`);
      await assertTree(folder.at(`to-${vendor}`), files);
      await rclone("moveto", `${there}/small.txt`, `${there}/folder/moved.txt`);
      await rclone("copyto", `${there}/folder/moved.txt`, `${there}/copied.txt`);
      await rclone("sync", "from", there);
      await rclone("check", "--download", "from", there);
      await rclone("purge", `${there}/folder`);
    }
    const names = await drive.names({ prefix: "nextcloud/" });
    assert(names.every((name) => !name.startsWith("nextcloud/folder/")), names.join());
    const details = (await drive.details()).find(({ name }) => name === "nextcloud/small.txt");
    const { mtime } = await Deno.stat(folder.at("from/small.txt"));
    assertEquals(
      Math.floor(Date.parse(details?.mtime ?? "") / 1000),
      Math.floor(Number(mtime) / 1000),
    );
  },
);

const MOUNTING = canMount() ? [] : ["not-allowed-to-mount"];

clientTest(
  "rclone mounts a drive",
  ["rclone", ...MOUNTING],
  async ({ dav, drive, folder, run }) => {
    await Deno.mkdir(folder.at("mnt"));
    const env = {
      RCLONE_CONFIG: "/dev/null",
      RCLONE_CONFIG_KV_TYPE: "webdav",
      RCLONE_CONFIG_KV_URL: dav.url(),
      RCLONE_CONFIG_KV_USER: USER,
      RCLONE_CONFIG_KV_PASS: (await run(["rclone", "obscure", PROJECT_KEY])).trim(),
    };
    const writing = ["--daemon", "--vfs-cache-mode", "writes", "--vfs-write-back", "0s"];
    await run(["rclone", "mount", "kv:", "mnt", ...writing], { env });
    try {
      await writeTree(folder.at("mnt"), tree());
      await Deno.rename(folder.at("mnt/small.txt"), folder.at("mnt/folder/moved.txt"));
    } finally {
      await run(["umount", folder.at("mnt")]);
    }
    const { "small.txt": _, ...rest } = tree();
    const expected = [...Object.keys(rest), "folder/moved.txt"].sort();
    let names = await drive.names();
    for (let tries = 0; tries < 300 && names.toSorted().join() !== expected.join(); tries++) {
      await delay(200);
      names = await drive.names();
    }
    assertEquals(names.toSorted(), expected);
  },
);

/** Whether this process may mount a file system. */
function canMount(): boolean {
  return Deno.uid() === 0 && Deno.statSync("/").isDirectory && hasFuse();
}

function hasFuse(): boolean {
  try {
    Deno.openSync("/dev/fuse", { read: true, write: true }).close();
    return true;
  } catch {
    return false;
  }
}

clientTest("davfs2 mounts a drive", ["mount.davfs", ...MOUNTING], async (
  { dav, drive, folder, run },
) => {
  await Deno.mkdir(folder.at("mnt"));
  await Deno.writeTextFile(folder.at("secrets"), `${dav.url()} ${USER} ${PROJECT_KEY}\n`, {
    mode: 0o600,
  });
  const settings = [
    `secrets ${folder.at("secrets")}`,
    "delay_upload 0",
  ];
  await Deno.writeTextFile(folder.at("davfs2.conf"), `${settings.join("\n")}\n`);
  await run(["mount.davfs", "-o", `conf=${folder.at("davfs2.conf")}`, dav.url(), folder.at("mnt")]);
  try {
    await writeTree(folder.at("mnt"), tree());
    await Deno.rename(folder.at("mnt/small.txt"), folder.at("mnt/folder/moved.txt"));
    await Deno.remove(folder.at("mnt/empty"));
  } finally {
    await run(["umount", folder.at("mnt")]);
  }
  const { empty: _, "small.txt": moved, ...rest } = tree();
  const expected: Tree = { ...rest, "folder/moved.txt": moved ?? new Uint8Array() };
  const names = (await drive.names()).filter((name) => name !== "lost+found/");
  assertEquals([...names].sort(), Object.keys(expected).sort());
  for (const [name, bytes] of Object.entries(expected)) {
    assertEquals((await drive.get(name)).expect(200).bytes.length, bytes.length, name);
  }
});

clientTest(
  "gio, in a session of D-Bus",
  ["gio", "dbus-run-session"],
  async ({ dav, drive, folder, run }) => {
    const address = dav.url().replace("http://", `dav://${USER}@`);
    await Deno.writeTextFile(folder.at("a b.txt"), "Hello\n");
    const script = [
      `printf '%s\\n' "$KEY" | gio mount "${address}" >&2`,
      `gio mkdir "${address}trip"`,
      `gio copy "a b.txt" "${address}trip/a%20b.txt"`,
      `gio copy "${address}trip/a%20b.txt" "${address}trip/second.txt"`,
      `gio move "${address}trip/second.txt" "${address}trip/third.txt"`,
      `gio cat "${address}trip/third.txt"`,
      `gio remove "${address}trip/a%20b.txt"`,
      `gio list "${address}trip"`,
    ];
    const text = await run(["dbus-run-session", "--", "sh", "-ec", script.join("\n")], {
      env: { KEY: PROJECT_KEY },
    });
    assertStringIncludes(text, "Hello\n");
    assertStringIncludes(text, "third.txt");
    assertEquals(await drive.names(), ["trip/third.txt"]);
  },
);

clientTest("Python's webdavclient3", ["python3"], async ({ dav, drive, folder, run }) => {
  await run(["python3", "-m", "venv", "venv"]);
  await run(["venv/bin/pip", "install", "--quiet", "webdavclient3==3.14.6"]);
  await Deno.writeTextFile(folder.at("a b.txt"), "Hello\n");
  const program = `
from webdav3.client import Client
import os
client = Client({"webdav_hostname": os.environ["ORIGIN"], "webdav_root": os.environ["ROOT"], "webdav_login": "u", "webdav_password": os.environ["KEY"]})
client.mkdir("trip")
client.upload_sync("trip/a b.txt", "a b.txt")
assert client.check("trip/a b.txt") and client.list("trip") == ["a b.txt"], client.list("trip")
assert client.info("trip/a b.txt")["size"] == "6"
client.copy("trip/a b.txt", "trip/copy.txt")
client.move("trip/copy.txt", "trip/moved é.txt")
client.download_sync("trip/moved é.txt", "back.txt")
option = {"namespace": "urn:x", "name": "colour", "value": "red"}
client.set_property("trip/moved é.txt", option)
assert client.get_property("trip/moved é.txt", option) == "red"
client.clean("trip/a b.txt")
`;
  await Deno.writeTextFile(folder.at("program.py"), program);
  const env = { ORIGIN: drive.server.origin, ROOT: dav.path(), KEY: PROJECT_KEY };
  await run(["venv/bin/python", "program.py"], { env });
  assertEquals(await Deno.readTextFile(folder.at("back.txt")), "Hello\n");
  assertEquals(await drive.names(), ["trip/moved é.txt"]);
});

clientTest("The package webdav of npm", ["node", "npm"], async ({ dav, drive, folder, run }) => {
  await run(["npm", "install", "--no-audit", "--no-fund", "--silent", "webdav@5.8.0"]);
  const program = `
import { createClient } from "webdav";
const client = createClient(process.env.URL, { username: "u", password: process.env.KEY });
await client.createDirectory("/trip");
await client.putFileContents("/trip/a b.txt", "Hello");
const [file] = await client.getDirectoryContents("/trip");
if (file.basename !== "a b.txt" || file.size !== 5) throw new Error(JSON.stringify(file));
await client.copyFile("/trip/a b.txt", "/trip/copy.txt");
await client.moveFile("/trip/copy.txt", "/trip/é%.txt");
const text = await client.getFileContents("/trip/é%.txt", { format: "text" });
if (text !== "Hello") throw new Error(text);
const lock = await client.lock("/trip/a b.txt");
await client.unlock("/trip/a b.txt", lock.token);
await client.deleteFile("/trip/a b.txt");
console.log(await client.getQuota());
`;
  await Deno.writeTextFile(folder.at("program.mjs"), program);
  const url = dav.url().replace(/\/$/, "");
  await run(["node", "program.mjs"], { env: { URL: url, KEY: PROJECT_KEY } });
  assertEquals(await drive.names(), ["trip/é%.txt"]);
});

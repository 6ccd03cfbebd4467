import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { altered, damageBytes, editStore } from "../faults/support/edit_store.ts";
import { assertSameBytes, patternBytes } from "../support/bytes.ts";
import { Folder, runCommand } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { S3_SECRET, s3Of, S3Server } from "../support/s3/s3_server.ts";
import type { S3Key } from "../support/s3/signed.ts";
import { PROJECT_ID, TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { DRIVE, FILES, makeStock } from "../support/store/stocked_store.ts";
import { TlsFiles } from "../support/tls.ts";

interface Listed {
  id: string;
  time: string;
  files: number;
  bytes: number;
  added: number;
}

/** The paths of all files below a folder, sorted, and their bytes. */
async function objectsIn(folder: string, below = ""): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for await (const { name, isDirectory } of Deno.readDir(join(folder, below))) {
    const path = join(below, name);
    if (isDirectory) {
      for (const [key, size] of await objectsIn(folder, path)) found.set(key, size);
    } else found.set(path, (await Deno.stat(join(folder, path))).size);
  }
  return new Map([...found].sort());
}

async function listed(repo: string): Promise<Listed[]> {
  const { code, stdout, stderr } = await runCommand(["backup", "list", "--to", repo, "--json"]);
  assertEquals([code, stderr], [0, ""]);
  return JSON.parse(stdout) as Listed[];
}

/** Runs a command that has to fail in one sentence, and says that. */
async function refused(says: RegExp, ...args: string[]): Promise<void> {
  const { code, stderr } = await runCommand(args);
  assertEquals(code, 1, stderr);
  assertMatch(stderr, says);
  assert(stderr.trimEnd().split("\n").length <= 3, stderr);
}

/** Fails unless a store has the files of the stocked one. */
async function assertStock(data: string): Promise<void> {
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  for (const [name, bytes] of Object.entries(FILES)) {
    assertSameBytes((await drive.get(name)).bytes, bytes, name);
  }
  await server.stop();
}

Deno.test("A snapshot sends what is new, and any of them can be restored.", async () => {
  await using stock = await makeStock();
  const repo = stock.at("repo");
  const commands = new StoreCommands(stock.at("data"));
  const first = await commands.json<Listed>("backup", "--to", repo);
  const before = await objectsIn(repo);
  assertEquals(await commands.json<Listed>("backup", "--to", repo).then(({ files }) => files), 3);
  {
    await using server = await TestServer.start({ data: commands.data });
    await new Drive(server, DRIVE).put("small", patternBytes(200_000, 9));
    // Beside the server.
    await commands.json("backup", "--to", repo);
    await server.stop();
  }
  const after = await objectsIn(repo);
  for (const [path, size] of before) assertEquals(after.get(path), size, path);
  const [one, two, three] = await listed(repo);
  assert(one !== undefined && two !== undefined && three !== undefined);
  assertEquals([one.id, one.files, one.added], [first.id, 3, first.added]);
  const bytes = Object.values(FILES).reduce((sum, { byteLength }) => sum + byteLength, 0);
  assertEquals([one.bytes, three.bytes], [bytes, bytes - FILES.small.byteLength + 200_000]);
  assertMatch(one.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert(two.added < 2000 && three.added < 300_000, JSON.stringify([two, three]));
  const sizes = [...after].filter(([path]) => !/^(config|runs|locks|tmp)/.test(path));
  const stored = sizes.reduce((sum, [, size]) => sum + size, 0);
  assertEquals(one.added + two.added + three.added, stored);

  const old = new StoreCommands(stock.at("old"));
  await old.json("restore", "--from", repo, "--snapshot", one.id);
  assertMatch(await old.text("verify"), /^No problems found: 3 files/);
  await assertStock(old.data);
  const newest = new StoreCommands(stock.at("newest"));
  await newest.text("restore", "--from", repo);
  await using server = await TestServer.start({ data: newest.data });
  const drive = new Drive(server, DRIVE);
  assertSameBytes((await drive.get("small")).bytes, patternBytes(200_000, 9));
  await server.stop();
  // A restored store is the same one.
  await newest.text("backup", "--to", repo);
});

Deno.test("A single file is restored without a store.", async () => {
  await using stock = await makeStock();
  const repo = stock.at("repo");
  await new StoreCommands(stock.at("data")).text("backup", "--to", repo);
  const from = ["restore", "--from", repo, "--drive", DRIVE];
  for (const [name, bytes] of Object.entries(FILES)) {
    const output = stock.at(name);
    const { code, stderr } = await runCommand([...from, "--file", name, "--output", output]);
    assertEquals([code, stderr], [0, ""]);
    assertSameBytes(await Deno.readFile(output), bytes, name);
  }
  await refused(/small already exists/, ...from, "--file", "small", "-o", stock.at("small"));
  await refused(/Cannot write .*: No such/, ...from, "--file", "small", "-o", stock.at("no/small"));
  await Deno.mkdir(stock.at("folder"));
  const onFolder = ["--file", "small", "--force", "-o", stock.at("folder")];
  await refused(/Cannot write .*: Is a directory/, ...from, ...onFolder);
  await refused(/There is no file "absent" in the drive/, ...from, "--file", "absent");
  const alone = ["restore", "--from", repo, "--data", stock.at("new"), "-o", stock.at("all")];
  const { code, stderr } = await runCommand(alone);
  assertEquals([code, /needs both --drive and --file/.test(stderr)], [2, true], stderr);
  assert(!await stock.has("kvdrive.db"));
});

Deno.test("A time that a list shows is that of its snapshot.", async () => {
  await using stock = await makeStock();
  const repo = stock.at("repo");
  await new StoreCommands(stock.at("data")).text("backup", "--to", repo);
  const [one] = await listed(repo);
  assert(one !== undefined);
  const from = ["restore", "--from", repo, "--drive", DRIVE, "--file", "small", "-o", "-"];
  for (
    const at of [
      one.time,
      new Date(one.time).toISOString(),
      one.time.replace("T", " ").slice(0, -1),
      one.time.slice(0, 16),
      one.time.slice(0, 10),
    ]
  ) {
    const { code, stderr } = await runCommand([...from, "--at", at]);
    assertEquals([code, stderr], [0, ""], at);
  }
  const before = new Date(Date.parse(one.time) - 1).toISOString();
  await refused(/has no snapshot up to/, ...from, "--at", before);
});

Deno.test("What is no repository, or that of another store, is refused and stays as it is.", async () => {
  await using stock = await makeStock();
  const [repo, other] = [stock.at("repo"), stock.at("other")];
  await Deno.mkdir(other);
  await Deno.writeTextFile(join(other, "mine"), "mine");
  const data = ["--data", stock.at("data")];
  await refused(/something else, such as "mine"/, "backup", "--to", other, ...data);
  for (const command of [["list"], ["check"], ["prune", "--keep-last", "1"], ["key", "list"]]) {
    await refused(/There is no repository/, "backup", ...command, "--to", other);
  }
  await refused(/There is no repository/, "restore", "--from", repo, "--data", stock.at("new"));
  assertEquals([...(await objectsIn(other)).keys()], ["mine"]);
  await new StoreCommands(stock.at("data")).text("backup", "--to", repo);
  await using folder = await Folder.make();
  {
    await using server = await TestServer.start({ data: folder.at("data") });
    await server.stop();
  }
  const before = await objectsIn(repo);
  await refused(/another store/, "backup", "--to", repo, "--data", folder.at("data"));
  assertEquals(await objectsIn(repo), before);
  await refused(/There is a store in .*--force/, "restore", "--from", repo, ...data);
});

Deno.test("Damage is found, named and survived.", async (t) => {
  await using stock = await makeStock();
  const commands = new StoreCommands(stock.at("data"));
  const repo = stock.at("repo");
  await commands.text("backup", "--to", repo);
  const [largest = ""] = [...await objectsIn(repo)].filter(([path]) => path.startsWith("data/"))
    .sort(([, a], [, b]) => b - a)[0] ?? [];
  const path = join(repo, largest);
  const whole = await Deno.readFile(path);
  const flipped = whole.slice();
  flipped[1000] = (flipped[1000] ?? 0) ^ 1;
  const damages = {
    changed: () => Deno.writeFile(path, flipped),
    truncated: () => Deno.writeFile(path, whole.subarray(0, 5000)),
    missing: () => Deno.remove(path),
  };
  for (const [kind, damage] of Object.entries(damages)) {
    await t.step(kind, async () => {
      await damage();
      const check = await runCommand(["backup", "check", "--to", repo, "--read-all"]);
      assertEquals(check.code, 1);
      assertMatch(check.stdout, /"parts" in drive "stock"/);
      assertMatch(check.stderr, /Remove wrong objects of data/);
      if (kind !== "changed") {
        assertEquals((await runCommand(["backup", "check", "--to", repo])).code, 1);
      }
      const target = new StoreCommands(stock.at(kind));
      const restored = await target.run("restore", "--from", repo);
      assertEquals(restored.code, 1);
      assertMatch(restored.stderr, /The file "parts" in drive "stock".* is damaged/);
      assert(!await stock.has(`${kind}/kvdrive.db`));
      const accepted = await target.run("restore", "--from", repo, "--damaged");
      assertEquals(accepted.code, 1);
      assertMatch(accepted.stderr, /The file "parts" in drive "stock".* is damaged/);
      await using server = await TestServer.start({ data: target.data });
      const drive = new Drive(server, DRIVE);
      assertSameBytes((await drive.get("small")).bytes, FILES.small);
      assertSameBytes((await drive.get("large")).bytes, FILES.large);
      await server.stop();
    });
  }
  await t.step("a node is missing", async () => {
    const copy = stock.at("copy");
    await new StoreCommands(stock.at("data")).text("backup", "--to", copy);
    await Deno.remove(join(copy, "index"), { recursive: true });
    const check = await runCommand(["backup", "check", "--to", copy, "--json"]);
    assertEquals(check.code, 1, check.stderr);
    const { problems, damaged } = JSON.parse(check.stdout) as {
      problems: unknown[];
      damaged: { records: string[] }[];
    };
    assertEquals([problems.length, damaged.map(({ records }) => records)], [1, [["any files"]]]);
    await commands.text("backup", "--to", copy);
    const healed = await runCommand(["backup", "check", "--to", copy, "--read-all"]);
    assertEquals([healed.code, healed.stderr], [0, ""]);
  });
  await t.step("the next snapshot sends what was lost", async () => {
    await commands.text("backup", "--to", repo);
    const healed = new StoreCommands(stock.at("healed"));
    await healed.text("restore", "--from", repo);
    await assertStock(healed.data);
  });
});

Deno.test("A store that is damaged is noticed, again each time, and when it is whole again.", async () => {
  const place = (name: string): [string, string, string] => [PROJECT_ID, DRIVE, name];
  for (const [kind, name] of [["content", "small"], ["chunk", "large"]] as const) {
    await using stock = await makeStock();
    const [repo, data] = [stock.at("repo"), stock.at("data")];
    const commands = new StoreCommands(data);
    const damage = () => editStore(data, (kv) => damageBytes(kv, kind, place(name), altered));
    // Chunks that the repository has are not read again.
    if (kind === "content") await commands.text("backup", "--to", repo);
    await damage();
    const notWhole = new RegExp(
      `^kvdrive: The store is damaged in 1 places, so the snapshot .* is not whole`,
    );
    await refused(notWhole, "backup", "--to", repo, "--data", data);
    await refused(notWhole, "backup", "--to", repo, "--data", data);
    const { stdout } = await runCommand(["backup", "list", "--to", repo, "--json"]);
    const list = JSON.parse(stdout) as (Listed & { damaged?: number })[];
    assertEquals(list.map(({ damaged }) => damaged).slice(-2), [1, 1]);
    await refused(/is damaged/, "restore", "--from", repo, "--data", stock.at("damaged"));
    await damage();
    await commands.text("backup", "--to", repo);
    const { code, stderr } = await runCommand([
      "restore",
      "--from",
      repo,
      "--data",
      stock.at("whole"),
    ]);
    assertEquals([code, stderr], [0, ""]);
    await assertStock(stock.at("whole"));
  }
});

Deno.test("A store with a page that cannot be read gets no snapshot.", async () => {
  await using folder = await Folder.make();
  const [repo, data] = [folder.at("repo"), folder.at("data")];
  {
    await using server = await TestServer.start({ data });
    const drive = new Drive(server, DRIVE);
    for (let i = 0; i < 100; i++) await drive.put(`file-${100 + i}`, patternBytes(1000, i));
    await server.stop();
  }
  const path = join(data, "kvdrive.db");
  const bytes = await Deno.readFile(path);
  const [name, page] = [new TextEncoder().encode("file-150"), 4096];
  const pages = Array.from({ length: bytes.length / page }, (_, i) => i * page).filter((at) => {
    // A leaf of a tree without row numbers.
    return bytes[at] === 10 && indexOf(bytes.subarray(at, at + page), name) >= 0;
  });
  assert(pages.length > 0);
  for (const at of pages) bytes[at] = 255;
  await Deno.writeFile(path, bytes);
  await refused(/Cannot read the store in .* malformed/, "backup", "--to", repo, "--data", data);
  assertEquals(await listed(repo), []);
});

/** Returns where some bytes are first in others; -1 if they are not. */
function indexOf(bytes: Uint8Array, wanted: Uint8Array): number {
  return bytes.findIndex((_, at) => wanted.every((byte, i) => bytes[at + i] === byte));
}

Deno.test("A passphrase encrypts everything, and further ones can be added and removed.", async () => {
  await using stock = await makeStock();
  const repo = stock.at("repo");
  const files = { first: stock.at("first.txt"), second: stock.at("second.txt") };
  await Deno.writeTextFile(files.first, "correct horse\n");
  await Deno.writeTextFile(files.second, "battery staple");
  const to = ["--to", repo];
  const withFirst = [...to, "--passphrase-file", files.first];
  const withSecond = [...to, "--passphrase-file", files.second];
  const commands = new StoreCommands(stock.at("data"));
  await commands.text("backup", ...withFirst);
  for (const path of (await objectsIn(repo)).keys()) {
    const text = new TextDecoder("latin1").decode(await Deno.readFile(join(repo, path)));
    assert(!text.includes("stock") && !text.includes("Layout"), path);
  }
  await refused(/is encrypted: give its passphrase/, "backup", "list", ...to);
  await refused(/The passphrase is wrong/, "backup", "list", ...withSecond);
  const key = ["backup", "key"];
  const added = await runCommand([
    ...key,
    "add",
    ...withFirst,
    "--new-passphrase-file",
    files.second,
    "--json",
  ]);
  const { id } = JSON.parse(added.stdout) as { id: string };
  const { stdout } = await runCommand([...key, "list", ...withSecond, "--json"]);
  const keys = JSON.parse(stdout) as { id: string; current: boolean }[];
  assertEquals(keys.map(({ current }) => current).sort(), [false, true]);
  await refused(/is that of the passphrase in use/, ...key, "remove", id, ...withSecond);
  const old = keys.find((one) => one.id !== id)?.id ?? "";
  const [path, check] = [join(repo, "keys", old), ["backup", "check", ...withSecond]];
  const good = await Deno.readFile(path);
  await Deno.writeFile(path, good.map((byte, at) => at === 150 ? byte ^ 1 : byte));
  await refused(/is damaged: 1 object .* Remove the key with/, ...check);
  await Deno.writeFile(path, good);
  assertEquals((await runCommand(check)).code, 0);
  assertEquals((await runCommand([...key, "remove", old, ...withSecond])).code, 0);
  await refused(/The passphrase is wrong/, "backup", "list", ...withFirst);
  const restored = new StoreCommands(stock.at("restored"));
  await restored.text("restore", "--from", repo, "--passphrase-file", files.second);
  await assertStock(restored.data);
});

Deno.test("Pruning keeps what the rules say, and everything that it needs.", async () => {
  await using stock = await makeStock();
  const repo = stock.at("repo");
  const commands = new StoreCommands(stock.at("data"));
  for (let i = 0; i < 3; i++) {
    await using server = await TestServer.start({ data: commands.data });
    await new Drive(server, DRIVE).put(`extra-${i}`, patternBytes(300_000, i + 10));
    await server.stop();
    await commands.text("backup", "--to", repo);
  }
  const all = await objectsIn(repo);
  const prune = ["backup", "prune", "--to", repo];
  assertEquals((await runCommand(prune)).code, 0);
  assertEquals((await runCommand([...prune, "--keep-last", "1", "--dry-run"])).code, 0);
  assertEquals(await objectsIn(repo), all);
  const { stdout } = await runCommand([...prune, "--keep-last", "1", "--json"]);
  const { removed, kept } = JSON.parse(stdout) as { removed: string[]; kept: string[] };
  assertEquals([removed.length, kept.length], [2, 1]);
  assertEquals((await listed(repo)).map(({ id }) => id), kept);
  assert((await objectsIn(repo)).size < all.size);
  assertEquals((await runCommand(["backup", "check", "--to", repo, "--read-all"])).code, 0);
  const restored = new StoreCommands(stock.at("restored"));
  await restored.text("restore", "--from", repo);
  assertMatch(await restored.text("verify"), /^No problems found: 6 files/);
});

Deno.test("An S3 with a certificate of a private authority is used if DENO_CERT names it.", async () => {
  await using stock = await makeStock();
  await using tls = await TlsFiles.make();
  const service = stock.at("s3");
  const { access_key_id, secret_access_key } = await makeBucket(service);
  await using server = await TestServer.start({
    data: service,
    args: ["--s3-port", "0", ...tls.args],
    env: S3_SECRET,
  });
  const env = { AWS_ACCESS_KEY_ID: access_key_id, AWS_SECRET_ACCESS_KEY: secret_access_key };
  const to = ["s3://bucket/backups", "--s3-endpoint", s3Of(server)];
  const backup = ["backup", "--to", ...to, "--unencrypted", "--data", stock.at("data")];
  const began = performance.now();
  const refused = await runCommand(backup, env);
  assertEquals(refused.code, 1);
  assertMatch(refused.stderr, /its certificate is not trusted: .* DENO_CERT/);
  assert(performance.now() - began < 20_000);
  const trusting = { ...env, DENO_CERT: tls.authority };
  assertEquals((await runCommand(backup, trusting)).code, 0);
  const restored = stock.at("restored");
  const { code, stderr } = await runCommand(
    ["restore", "--from", ...to, "--data", restored],
    trusting,
  );
  assertEquals([code, stderr], [0, ""]);
  await assertStock(restored);
});

/** Makes a store with a bucket and a key of S3. */
async function makeBucket(data: string): Promise<S3Key> {
  await using s3 = await S3Server.start({ data });
  await new Drive(s3.server, "bucket").put("other", "x");
  await s3.server.stop();
  return s3.key;
}

/** Snapshots of stores whose bytes a disk has changed or lost, of each kind. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  altered,
  bytesOf,
  bytesVersions,
  type Edit,
  editStore,
  firstOf,
  type Place,
} from "./support/edit_store.ts";
import { patternBytes } from "../support/bytes.ts";
import { type CommandResult, Folder, runCommand } from "../support/command.ts";
import { Drive, query, Upload, uploadParts } from "../support/drive.ts";
import { PROJECT_ID, TestServer } from "../support/server.ts";
import { imageBytes } from "../support/sharing/thumbnails.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { copyStock } from "../support/store/stocked_store.ts";

const DRIVE = "drive";
const SMALL = patternBytes(3000, 1);
/** 20 chunks. */
const LARGE = patternBytes(20 * 65_536, 2);
/** 80 chunks. */
const PART = patternBytes(80 * 65_536, 3);

/** A store with a file of each kind, and some of them in the trash as well. */
async function makeStore(): Promise<Folder> {
  const folder = await Folder.make();
  const data = folder.at("data");
  await using server = await TestServer.start({ data });
  await new StoreCommands(data).text("project", "change", PROJECT_ID, "--trash-days", "7");
  const drive = new Drive(server, DRIVE);
  for (const name of ["small", "trashed-small", "lost-small"]) await drive.put(name, SMALL);
  const thumbnail = { body: imageBytes(2000) };
  (await drive.send("PUT", `/files/thumbnail${query({ name: "small" })}`, thumbnail)).expect(200);
  for (const name of ["large", "trashed-large"]) await drive.put(name, LARGE);
  await uploadParts(drive, "parts", [PART, LARGE]);
  const open = await Upload.start(drive, "open");
  (await open.send(1, LARGE)).expect(200);
  await drive.delete(["trashed-small", "trashed-large"]);
  await server.stop();
  return folder;
}

const place = (name: string): Place => [PROJECT_ID, DRIVE, name];

/** The entries of a store. */
type Store = Parameters<Edit>[0];

interface Versions {
  version: string;
  bytes?: string;
  thumbnail?: { version: string };
}

/** The version of the bytes of a file in the trash. */
async function trashed(kv: Store, name: string): Promise<string> {
  const items = kv.list<{ name: string; record: Versions }>({ prefix: ["trash"] });
  for await (const { value } of items) {
    if (value.name === name) return value.record.bytes ?? value.record.version;
  }
  throw new Error(`${name} is not in the trash`);
}

async function thumbnailOf(kv: Store): Promise<string> {
  const { value } = await firstOf<Versions>(kv, "file", ...place("small"));
  return value.thumbnail?.version ?? "";
}

type Bytes = Uint8Array<ArrayBuffer>;

async function alter(kv: Store, ...key: string[]): Promise<void> {
  const found = await firstOf<Bytes>(kv, ...key);
  await kv.set(found.key, altered(found.value));
}

async function removeChunks(kv: Store, name: string, from: number, to: number): Promise<void> {
  for (const { key } of (await bytesOf(kv, "chunk", place(name))).slice(from, to)) {
    await kv.delete(key);
  }
}

interface Damage {
  change: Edit;
  /** What the sentence about it says. */
  says: RegExp;
  /** Whether a snapshot that was taken before has the bytes, so that they are not missed. */
  isKept?: true;
}

const DAMAGES: Record<string, Damage> = {
  "a thumbnail that was changed": {
    change: async (kv) => await alter(kv, "content", await thumbnailOf(kv)),
    says: /"small" in drive .* of its thumbnail, its bytes are not those/,
  },
  "a small file in the trash that was changed": {
    change: async (kv) => await alter(kv, "content", await trashed(kv, "trashed-small")),
    says: /"trashed-small" in drive .* in the trash is damaged: its bytes are not those/,
  },
  "a large file in the trash that was changed": {
    change: async (kv) => await alter(kv, "chunk", await trashed(kv, "trashed-large")),
    says: /do not match their checksums/,
    isKept: true,
  },
  "the first chunk of a file is missing": {
    change: (kv) => removeChunks(kv, "large", 0, 1),
    says: /lack 1 of 20 chunks/,
  },
  "a chunk in the middle of a file is missing": {
    change: (kv) => removeChunks(kv, "large", 11, 12),
    says: /lack 1 of 20 chunks/,
    isKept: true,
  },
  "the last chunks of a file are missing": {
    change: (kv) => removeChunks(kv, "large", 15, 20),
    says: /lack 5 of 20 chunks/,
  },
  "all chunks of a file are missing": {
    change: (kv) => removeChunks(kv, "large", 0, 20),
    says: /lack 20 of 20 chunks/,
  },
  "all chunks of a part are missing": {
    change: (kv) => removeChunks(kv, "parts", 80, 100),
    says: /lack 20 of 20 chunks/,
  },
  "the last chunk of an open upload is missing": {
    change: (kv) => removeChunks(kv, "open", 19, 20),
    says: /lack 1 of 20 chunks/,
  },
};

function assertDamaged({ code, stdout, stderr }: CommandResult, says: RegExp): void {
  assertEquals(code, 1, stdout + stderr);
  assertMatch(stderr, says);
  assertMatch(stderr, /damaged in 1 place/);
}

Deno.test("Each kind of damage is noticed by a snapshot, and by the next one.", async (t) => {
  await using store = await makeStore();
  for (const [kind, { change, says, isKept }] of Object.entries(DAMAGES)) {
    for (const before of ["before the first snapshot", "after it"]) {
      await t.step(`${kind}, ${before}`, async () => {
        await using copy = await copyStock(store);
        const [data, repo] = [copy.at("data"), copy.at("repo")];
        const backup = ["backup", "--to", repo, "--data", data];
        const isLater = before === "after it";
        if (isLater) await new StoreCommands(data).text("backup", "--to", repo);
        await editStore(data, change);
        const restore = ["restore", "--from", repo, "--data", copy.at("restored")];
        if (isLater && isKept) {
          assertEquals((await runCommand(backup)).code, 0);
          assertEquals((await runCommand(restore)).code, 0);
          return;
        }
        assertDamaged(await runCommand(backup), says);
        assertDamaged(await runCommand(backup), says);
        assert((await runCommand(restore)).code === 1);
      });
    }
  }
});

Deno.test("The content of a small file that was lost is noticed with its record.", async () => {
  await using store = await makeStore();
  const [data, repo] = [store.at("data"), store.at("repo")];
  await editStore(data, async (kv) => {
    const [version = ""] = await bytesVersions(kv, place("lost-small"));
    await kv.delete(["content", version]);
  });
  for (let round = 0; round < 2; round++) {
    const run = await runCommand(["backup", "--to", repo, "--data", data]);
    assertDamaged(run, /"lost-small" in drive .* its content is missing/);
  }
});

Deno.test("A check names what a lost object concerns, in the trash and in open uploads too.", async () => {
  await using store = await makeStore();
  const repo = store.at("repo");
  await new StoreCommands(store.at("data")).text("backup", "--to", repo);
  const named = new Set<string>();
  for await (const { name } of Deno.readDir(`${repo}/data`)) {
    const path = `${repo}/data/${name}`;
    await Deno.rename(path, `${repo}-object`);
    const { code, stdout } = await runCommand(["backup", "check", "--to", repo, "--json"]);
    assertEquals(code, 1);
    const { damaged } = JSON.parse(stdout) as { damaged: { files: string[] }[] };
    for (const file of damaged.flatMap(({ files }) => files)) named.add(file);
    await Deno.rename(`${repo}-object`, path);
  }
  const text = [...named].join("\n");
  assertMatch(text, /^"trashed-large" in drive "drive" of project .* in the trash$/m);
  assertMatch(text, /^a part of the open upload .* in drive "drive"/m);
  assertMatch(text, /^"large" in drive "drive" of project [^ ]+$/m);
  assertMatch(text, /^"parts" in drive "drive" of project [^ ]+$/m);
});

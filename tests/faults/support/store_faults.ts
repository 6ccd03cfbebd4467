import { PROJECT_ID } from "../../support/server.ts";
import { DRIVE } from "../../support/store/stocked_store.ts";
import {
  altered,
  type BytesKind,
  bytesVersion,
  changeFirst,
  type Damage,
  damageBytes,
  deleteFirst,
  type Edit,
  firstOf,
  removed,
} from "./edit_store.ts";
import { KEY_WRONGS } from "./key_faults.ts";

const PLACE = [PROJECT_ID, DRIVE] as const;

/** An edit that damages the first entry with bytes of a file or of an open upload. */
function damaging(kind: BytesKind, name: string, damage: Damage): Edit {
  return (kv) => damageBytes(kv, kind, [...PLACE, name], damage);
}

/** A version that nothing uses, another one for each letter. */
function unused(letter: string): string {
  return `01${letter.repeat(24)}`;
}

/** Damage that cannot be repaired, and its report. */
export const DAMAGES: Record<string, { damage: Edit; says: RegExp; name: string; kind: string }> = {
  "a missing content": {
    damage: damaging("content", "small", removed),
    says: /"small".*its content is missing/,
    name: "small",
    kind: "file",
  },
  "a shortened content": {
    damage: damaging("content", "small", (it) => it.slice(1)),
    says: /"small".*2999 bytes instead of 3000/,
    name: "small",
    kind: "file",
  },
  "an altered content": {
    damage: damaging("content", "small", altered),
    says: /"small".*SHA-256/,
    name: "small",
    kind: "file",
  },
  "a missing chunk": {
    damage: damaging("chunk", "large", removed),
    says: /"large".*chunk 0 of 11 is missing/,
    name: "large",
    kind: "file",
  },
  "a shortened chunk": {
    damage: damaging("chunk", "large", (it) => it.slice(1)),
    says: /"large".*chunk 0 of 11 has 65535 bytes/,
    name: "large",
    kind: "file",
  },
  "an altered chunk": {
    damage: damaging("chunk", "large", altered),
    says: /"large".*chunk 0 of 11 does not match its checksum/,
    name: "large",
    kind: "file",
  },
  "an altered chunk of a part of a file": {
    damage: damaging("chunk", "parts", altered),
    says: /"parts".*of its part 1, chunk 0 of 77 does not match its checksum/,
    name: "parts",
    kind: "file",
  },
  "missing checksums": {
    damage: damaging("checksums", "large", removed),
    says: /"large".*page 0 of its checksums is missing or incomplete/,
    name: "large",
    kind: "file",
  },
  "altered checksums": {
    damage: damaging("checksums", "parts", altered),
    says: /"parts".*of its part 1, chunk 0 of 77 does not match its checksum/,
    name: "parts",
    kind: "file",
  },
  "an altered digest of a part": {
    damage: damaging("checksums", "parts", (it) => it.with(-1, ~(it.at(-1) ?? 0))),
    says: /"parts".*of its part 1, .*SHA-256/,
    name: "parts",
    kind: "file",
  },
  "a missing chunk of a part of a file": {
    damage: damaging("chunk", "parts", removed),
    says: /"parts".*of its part 1, chunk 0 of 77 is missing/,
    name: "parts",
    kind: "file",
  },
  "an altered chunk of a part of an open upload": {
    damage: damaging("chunk", "open", altered),
    says: /Part 1 of the open upload .*"open".*chunk 0 of 11 does not match its checksum/,
    name: "open",
    kind: "part",
  },
};

const EVENT = { at: 0, event: "key.created", by: "admin", address: "", target: "k3JxQ0aB" };

/** Inconsistencies that can be repaired, and their report. */
export const WRONGS: Record<string, { damage: Edit; says: RegExp }> = {
  "events without a project": {
    damage: async (kv) => void await kv.set(["event", "gone", "01AAAAAAAAAAAAAAAAAAAAAAAA"], EVENT),
    says: /There are entries \(event\) of project gone, which does not exist/,
  },
  "daily figures without a project": {
    damage: async (kv) => {
      const figures = { requests: 1, received: 2, sent: 3 };
      for (let day = 20_000; day < 20_400; day++) {
        await kv.set(["daily_usage", "gone", day], figures);
      }
    },
    says: /There are entries \(daily_usage\) of project gone, which does not exist/,
  },
  "an event that would stay for ever": {
    damage: async (kv) =>
      void await kv.set(["event", PROJECT_ID, "01AAAAAAAAAAAAAAAAAAAAAAAA"], EVENT),
    says: /The event 01AAA\w+ of project test-project is missing from the server's log/,
  },
  "chunks without an owner": {
    damage: async (kv) => {
      for (let i = 0; i < 3; i++) {
        await kv.set(["chunk", unused("A"), i], new Uint8Array(9));
      }
    },
    says: /3 chunks of version 01AAA/,
  },
  "a chunk after the last one of a file": {
    damage: async (kv) => {
      await kv.set(["chunk", await bytesVersion(kv, [...PLACE, "large"]), 11], new Uint8Array(9));
    },
    says: /1 chunks of version .* are unused/,
  },
  "checksums without an owner": {
    damage: async (kv) => {
      await kv.set(["checksums", unused("B"), 0], new Uint8Array(36));
    },
    says: /1 pages of checksums of version 01BBB/,
  },
  "a content without an owner": {
    damage: async (kv) => void await kv.set(["content", unused("C")], new Uint8Array(9)),
    says: /content of version 01CCC\S+ is unused/,
  },
  "a content of a file in chunks": {
    damage: async (kv) => {
      const version = await bytesVersion(kv, [...PLACE, "large"]);
      await kv.set(["content", version], new Uint8Array(9));
    },
    says: /content of version \S+ is unused/,
  },
  "a list of parts without an owner": {
    damage: async (kv) => {
      const value = { versions: [unused("E")], sizes: [9] };
      await kv.set(["manifest", unused("D"), 0], value);
      await kv.set(["chunk", unused("E"), 0], new Uint8Array(9));
    },
    says: /list of parts 01DDD/,
  },
  "parts without an upload": {
    damage: async (kv) => {
      const value = { version: unused("G"), size: 9, sha256: "" };
      await kv.set(["part", ...PLACE, unused("F"), 1], value);
      await kv.set(["chunk", unused("G"), 0], new Uint8Array(9));
    },
    says: /1 parts, but no upload 01FFF/,
  },
  "an upload without a deadline": {
    damage: async (kv) => {
      for await (const { key, value } of kv.list<{ kind: string }>({ prefix: ["garbage"] })) {
        if (value.kind === "upload") await kv.delete(key);
      }
    },
    says: /The upload .* never expires/,
  },
  "written bytes without a lease": {
    damage: async (kv) => {
      const version = unused("H");
      const value = { project: PROJECT_ID, drive: DRIVE, name: "x", version, chunks: 1 };
      await kv.set(["pending", version], value);
    },
    says: /has no lease/,
  },
  "a removal of chunks that a file needs": {
    damage: async (kv) => {
      const version = await bytesVersion(kv, [...PLACE, "large"]);
      await throwAway(kv, "large", { kind: "chunks", version, chunks: 11 });
    },
    says: /"large".*scheduled for deletion/,
  },
  "a removal of a list of parts that a file needs": {
    damage: async (kv) => {
      const version = await bytesVersion(kv, [...PLACE, "parts"]);
      await throwAway(kv, "parts", { kind: "manifest", version });
    },
    says: /"parts".*\(manifest\) is in use but scheduled for deletion/,
  },
  "a wrong count of the files that share bytes": {
    damage: async (kv) => {
      await shareFile(kv, "small");
      await setReferences(kv, await bytesVersion(kv, [...PLACE, "small"]), 5n);
    },
    says: /bytes of version \S+ are counted as used 5 times, but 1 files use them/,
  },
  "a missing count of the files that share bytes": {
    damage: (kv) => shareFile(kv, "large"),
    says: /bytes of version \S+ are counted as used \S+ times, but 1 files use them/,
  },
  "a count of files of which there is none": {
    damage: (kv) => setReferences(kv, unused("J"), 2n),
    says: /count of the files that share version 01JJJ\S+, but none does/,
  },
  "a file that shares its bytes without the mark": {
    damage: async (kv) => {
      const version = await bytesVersion(kv, [...PLACE, "parts"]);
      const layout = { kind: "manifest", parts: 2 };
      await throwAway(kv, "copy", { kind: "reference", version, size: 10_000_001, layout });
      await setReferences(kv, version, 2n);
    },
    says: /The file "parts" .* shares its bytes with another, but is not marked so/,
  },
  "a file in the trash that would stay there and is not counted": {
    damage: async (kv) => {
      const [version, content] = [unused("K"), new Uint8Array(0)];
      const layout = { kind: "inline" };
      const record = { version, size: 0, type: "a/b", created: 1, modified: 1, layout };
      const item = { name: "old", deleted: 1, expires: 9e12, reason: "deleted", record };
      await kv.set(["content", version], content);
      await kv.set(["trash", ...PLACE, unused("K")], item);
    },
    says: /"old" .* would stay in the trash for ever[^]*say 0 files in the trash, but there are 1/,
  },
  "a link that its drive does not list": {
    damage: (kv) => addLink(kv, unused("L"), PROJECT_ID),
    says: /A link is missing from the list of drive "stock"/,
  },
  "a link that would stay after its deadline": {
    damage: (kv) => addLink(kv, unused("Q"), PROJECT_ID, { expires: 9e12 }),
    says: /A link of drive "stock" .* would be kept for ever/,
  },
  "a link of a project that does not exist": {
    damage: (kv) => addLink(kv, unused("M"), "absent"),
    says: /A link leads to drive "stock" of project absent, which does not exist/,
  },
  "a list with a link that does not exist": {
    damage: async (kv) => void await kv.set(["drive_link", ...PLACE, unused("N")], {}),
    says: /The list of drive "stock" .* has a link that does not exist/,
  },
  "counted downloads of a link that does not exist": {
    damage: async (kv) => void await kv.set(["link_downloads", unused("P")], new Deno.KvU64(3n)),
    says: /The downloads of a link are counted that does not exist/,
  },
  "a wrong counter of files": {
    damage: async (kv) => void await kv.atomic().sum(["usage", ...PLACE, "files"], 7n).commit(),
    says: /counters of drive "stock" .* say 10 files, but there are 3 files/,
  },
  "an invalid counter of bytes": {
    damage: async (kv) => void await kv.set(["usage", ...PLACE, "bytes"], "many"),
    says: /counters of drive "stock"/,
  },
  "a missing counter": {
    damage: (kv) => deleteFirst(kv, "usage", ...PLACE),
    says: /counters of drive "stock"/,
  },
  "a wrong sum of bytes": {
    damage: (kv) => add(kv, ["project_usage", PROJECT_ID, "bytes"], 7n),
    says: /counters of project test-project say 10703008 bytes, but there are 10703001 bytes/,
  },
  "a sum that is no counter": {
    damage: async (kv) => void await kv.set(["project_usage", PROJECT_ID, "files"], "many"),
    says: /counters of project test-project say an invalid number of files, but there are 3 files/,
  },
  "a missing sum": {
    damage: (kv) => deleteFirst(kv, "project_usage", PROJECT_ID, "open_bytes"),
    says: /counters of project test-project say 0 bytes in open uploads, but there are 700000/,
  },
  "a wrong number of open uploads": {
    damage: (kv) => add(kv, ["project_usage", PROJECT_ID, "open_uploads"], 2n),
    says: /counters of project test-project say 3 open uploads, but there are 1 open uploads/,
  },
  "a wrong counter with a matching sum": {
    damage: async (kv) => {
      await add(kv, ["usage", ...PLACE, "bytes"], 9n);
      await add(kv, ["project_usage", PROJECT_ID, "bytes"], 9n);
    },
    says: /counters of drive "stock" .* say 10703010 bytes, but there are 10703001 bytes/,
  },
  "a wrong counter of the bytes of an open upload": {
    damage: async (kv) => {
      const { key } = await firstOf(kv, "parts_revision", ...PLACE);
      await kv.atomic().sum(key, 5n).commit();
    },
    says: /counter of the upload \S+ of "open" .* says 700005 bytes, but its parts have 700000/,
  },
  "a wrong counter of open uploads": {
    damage: (kv) => add(kv, ["usage", ...PLACE, "open_bytes"], 9n),
    says: /say 700009 bytes in open uploads, but there are 700000/,
  },
  "a missing counter of open uploads": {
    damage: (kv) => deleteFirst(kv, "usage", ...PLACE, "open_bytes"),
    says: /counters of drive "stock" .* say 0 bytes in open uploads, but there are 700000/,
  },
  ...KEY_WRONGS,
  "an application's key that is missing in its lists": {
    damage: (kv) => deleteFirst(kv, "app_key_name", PROJECT_ID),
    says: /key \S+ of application blog of project test-project is missing from its index/,
  },
  "a list with a missing key": {
    damage: (kv) => deleteFirst(kv, "app_key"),
    says: /An index has .*, which does not exist/,
  },
  "a host name without an application": {
    damage: async (kv) => {
      const value = { project: PROJECT_ID, app: "wiki" };
      await kv.set(["app_host", "wiki.example.com"], value);
    },
    says: /host name wiki\.example\.com, which does not exist/,
  },
  "a missing host name": {
    damage: (kv) => deleteFirst(kv, "app_host"),
    says: /host name of application \S+ .* is missing from its index/,
  },
};

async function add(kv: Deno.Kv, counter: Deno.KvKey, by: bigint): Promise<void> {
  await kv.atomic().sum(counter, by).commit();
}

/** Marks a file as one that shares its bytes. */
async function shareFile(kv: Deno.Kv, name: string): Promise<void> {
  await changeFirst<object>(kv, ["file", ...PLACE, name], (it) => ({ ...it, shared: true }));
}

async function setReferences(kv: Deno.Kv, version: string, count: bigint): Promise<void> {
  await kv.set(["references", version], new Deno.KvU64(count));
}

/** Adds the record of a link, and nothing else that belongs to it. */
async function addLink(
  kv: Deno.Kv,
  id: string,
  project: string,
  fields: { expires?: number } = {},
): Promise<void> {
  const { value } = await kv.get<{ id: string }>(["link_key"]);
  const link = { name: "small", project, projectCreated: 1, drive: DRIVE, keyId: value?.id };
  await kv.set(["link", id], { ...link, created: 1, download: false, ...fields });
}

/** What an entry of that list names. */
interface Waste {
  kind: string;
  version: string;
  [field: string]: unknown;
}

/** Adds an entry to the list of what is to be deleted, to be dealt with in ten minutes. */
async function throwAway(kv: Deno.Kv, name: string, what: Waste): Promise<void> {
  const value = { project: PROJECT_ID, drive: DRIVE, name, ...what };
  await kv.set(["garbage", Date.now() + 600_000, unused(what.kind.slice(0, 1))], value);
}

import { PROJECT_ID } from "../../support/server.ts";
import { DRIVE } from "../../support/store/stocked_store.ts";
import { changeFirst, deleteFirst, type Edit, firstOf } from "./edit_store.ts";

type Bytes = Uint8Array<ArrayBuffer>;
const PLACE = [PROJECT_ID, DRIVE];

/** Damage that cannot be repaired, and its report. */
export const DAMAGES: Record<string, { damage: Edit; says: RegExp; name: string; kind: string }> = {
  "a missing content": {
    damage: (kv) => deleteFirst(kv, "content", ...PLACE, "small"),
    says: /"small".*its content is missing/,
    name: "small",
    kind: "file",
  },
  "a shortened content": {
    damage: (kv) => changeFirst<Bytes>(kv, ["content", ...PLACE, "small"], (it) => it.slice(1)),
    says: /"small".*2999 bytes instead of 3000/,
    name: "small",
    kind: "file",
  },
  "an altered content": {
    damage: (kv) => changeFirst<Bytes>(kv, ["content", ...PLACE, "small"], altered),
    says: /"small".*SHA-256/,
    name: "small",
    kind: "file",
  },
  "a missing chunk": {
    damage: (kv) => deleteFirst(kv, "chunk", ...PLACE, "large"),
    says: /"large".*chunk 0 of 11 is missing/,
    name: "large",
    kind: "file",
  },
  "a shortened chunk": {
    damage: (kv) => changeFirst<Bytes>(kv, ["chunk", ...PLACE, "large"], (it) => it.slice(1)),
    says: /"large".*chunk 0 of 11 has 65535 bytes/,
    name: "large",
    kind: "file",
  },
  "an altered chunk": {
    damage: (kv) => changeFirst<Bytes>(kv, ["chunk", ...PLACE, "large"], altered),
    says: /"large".*chunk 0 of 11 does not match its checksum/,
    name: "large",
    kind: "file",
  },
  "an altered chunk of a part of a file": {
    damage: (kv) => changeFirst<Bytes>(kv, ["chunk", ...PLACE, "parts"], altered),
    says: /"parts".*of its part 1, chunk 0 of 77 does not match its checksum/,
    name: "parts",
    kind: "file",
  },
  "missing checksums": {
    damage: (kv) => deleteFirst(kv, "checksums", ...PLACE, "large"),
    says: /"large".*page 0 of its checksums is missing or incomplete/,
    name: "large",
    kind: "file",
  },
  "altered checksums": {
    damage: (kv) => changeFirst<Bytes>(kv, ["checksums", ...PLACE, "parts"], altered),
    says: /"parts".*of its part 1, chunk 0 of 77 does not match its checksum/,
    name: "parts",
    kind: "file",
  },
  "an altered digest of a part": {
    damage: (kv) =>
      changeFirst<Bytes>(
        kv,
        ["checksums", ...PLACE, "parts"],
        (it) => it.with(-1, ~(it.at(-1) ?? 0)),
      ),
    says: /"parts".*of its part 1, .*SHA-256/,
    name: "parts",
    kind: "file",
  },
  "a missing chunk of a part of a file": {
    damage: (kv) => deleteFirst(kv, "chunk", ...PLACE, "parts"),
    says: /"parts".*of its part 1, chunk 0 of 77 is missing/,
    name: "parts",
    kind: "file",
  },
  "an altered chunk of a part of an open upload": {
    damage: (kv) => changeFirst<Bytes>(kv, ["chunk", ...PLACE, "open"], altered),
    says: /Part 1 of the open upload .*"open".*chunk 0 of 11 does not match its checksum/,
    name: "open",
    kind: "part",
  },
};

/** Inconsistencies that can be repaired, and their report. */
export const WRONGS: Record<string, { damage: Edit; says: RegExp }> = {
  "chunks without an owner": {
    damage: async (kv) => {
      for (let i = 0; i < 3; i++) {
        await kv.set(
          ["chunk", ...PLACE, "large", "01AAAAAAAAAAAAAAAAAAAAAAAA", i],
          new Uint8Array(9),
        );
      }
    },
    says: /3 chunks of version 01AAA/,
  },
  "a chunk after the last one of a file": {
    damage: async (kv) => {
      const { key } = await firstOf(kv, "chunk", ...PLACE, "large");
      await kv.set([...key.slice(0, -1), 11], new Uint8Array(9));
    },
    says: /1 chunks of version .* are unused/,
  },
  "checksums without an owner": {
    damage: async (kv) => {
      const key = ["checksums", ...PLACE, "large", "01AAAAAAAAAAAAAAAAAAAAAAAA", 0];
      await kv.set(key, new Uint8Array(36));
    },
    says: /1 pages of checksums of version 01AAA/,
  },
  "a content without an owner": {
    damage: async (kv) => void await kv.set(["content", ...PLACE, "large"], new Uint8Array(9)),
    says: /content stored for "large" .* is unused/,
  },
  "a list of parts without an owner": {
    damage: async (kv) => {
      const value = { versions: ["01BBBBBBBBBBBBBBBBBBBBBBBB"], sizes: [9] };
      await kv.set(["manifest", ...PLACE, "gone", "01AAAAAAAAAAAAAAAAAAAAAAAA", 0], value);
      await kv.set(["chunk", ...PLACE, "gone", "01BBBBBBBBBBBBBBBBBBBBBBBB", 0], new Uint8Array(9));
    },
    says: /list of parts 01AAA/,
  },
  "parts without an upload": {
    damage: async (kv) => {
      const value = { version: "01BBBBBBBBBBBBBBBBBBBBBBBB", size: 9, sha256: "" };
      await kv.set(["part", ...PLACE, "01AAAAAAAAAAAAAAAAAAAAAAAA", 1], value);
      await kv.set(["chunk", ...PLACE, "gone", "01BBBBBBBBBBBBBBBBBBBBBBBB", 0], new Uint8Array(9));
    },
    says: /1 parts, but no upload 01AAA/,
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
      const version = "01AAAAAAAAAAAAAAAAAAAAAAAA";
      const value = { project: PROJECT_ID, drive: DRIVE, name: "x", version, chunks: 1 };
      await kv.set(["pending", version], value);
    },
    says: /has no lease/,
  },
  "a removal of chunks that a file needs": {
    damage: async (kv) => {
      const [, project, drive, name, version] = (await firstOf(kv, "chunk", ...PLACE, "large")).key;
      const value = { kind: "chunks", project, drive, name, version, chunks: 11, file: version };
      await kv.set(["garbage", Date.now() + 600_000, "01AAAAAAAAAAAAAAAAAAAAAAAA"], value);
    },
    says: /"large".*scheduled for deletion/,
  },
  "a wrong counter of files": {
    damage: async (kv) => void await kv.atomic().sum(["usage", ...PLACE, "files"], 7n).commit(),
    says: /say 10 files and 10703001 bytes, but there are 3 files and 10703001 bytes/,
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
    damage: async (kv) => {
      await limitProject(kv);
      await kv.set(["quota", PROJECT_ID], { bytes: 7 });
    },
    says: /sum of bytes of project test-project is 7, but .* add up to 11403001/,
  },
  "a wrong counter of bytes with a matching sum": {
    damage: async (kv) => {
      await limitProject(kv);
      await kv.atomic().sum(["usage", ...PLACE, "bytes"], 9n).commit();
      await kv.set(["quota", PROJECT_ID], { bytes: 11403010 });
    },
    says: /say 3 files and 10703010 bytes, but there are 3 files and 10703001 bytes/,
  },
  "a wrong counter of the bytes of an open upload": {
    damage: async (kv) => {
      const { key } = await firstOf(kv, "parts_revision", ...PLACE);
      await kv.atomic().sum(key, 5n).commit();
    },
    says: /counter of the upload \S+ of "open" .* says 700005 bytes, but its parts have 700000/,
  },
  "a wrong counter of open uploads with a matching sum": {
    damage: async (kv) => {
      await limitProject(kv);
      await kv.atomic().sum(["usage", ...PLACE, "open_bytes"], 9n).commit();
      await kv.set(["quota", PROJECT_ID], { bytes: 11403010 });
    },
    says:
      /counter of open uploads in drive "stock" .* says 700009 bytes, but their parts have 700000/,
  },
  "a missing counter of open uploads": {
    damage: (kv) => deleteFirst(kv, "usage", ...PLACE, "open_bytes"),
    says: /counter of open uploads in drive "stock" .* says 0 bytes/,
  },
  "an open upload without its number": {
    damage: (kv) => deleteFirst(kv, "open_upload", PROJECT_ID),
    says: /upload \S+ of "open" .* does not hold its number/,
  },
  "a number without an open upload": {
    damage: async (kv) => {
      await kv.set(["open_upload", PROJECT_ID, 7000], { drive: DRIVE, id: "gone" });
    },
    says: /No upload holds number 7000 of the open uploads of project test-project/,
  },
  "a sum of bytes without a quota": {
    damage: async (kv) => void await kv.set(["quota", PROJECT_ID], { bytes: 10703001 }),
    says: /sum of bytes for project test-project, which has no limit/,
  },
  "a key that is missing in its lists": {
    damage: (kv) => deleteFirst(kv, "project_key_prefix", PROJECT_ID),
    says: /key \S+ of project test-project is missing from its index/,
  },
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

async function limitProject(kv: Deno.Kv): Promise<void> {
  await changeFirst<object>(kv, ["project", PROJECT_ID], (it) => ({ ...it, maxBytes: 20_000_000 }));
}

function altered(bytes: Bytes): Bytes {
  return bytes.map((byte, i) => i === 0 ? byte ^ 1 : byte);
}

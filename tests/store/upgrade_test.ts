import { assert, assertEquals, assertMatch } from "@std/assert";
import { gunzipSync } from "node:zlib";
import { ADMIN_TOKEN, administer, Project } from "../support/admin.ts";
import { assertSameBytes, utf8 } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive, joinBytes, Upload } from "../support/drive.ts";

import { S3_SECRET, s3Of } from "../support/s3/s3_server.ts";
import { signedHeaders } from "../support/s3/signed.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { byteFileOf, recordFileOf, withSqlite } from "../faults/support/store_files.ts";
import { breakRecord, openRecords, setFormat } from "../faults/support/records.ts";
import format1 from "./fixtures/format_1.json" with { type: "json" };
import format3 from "./fixtures/format_3.json" with { type: "json" };

/** A store that an earlier version left, in `fixtures/format_N.db.gz`, and its keys, links and versions. */
interface Fixture {
  format: number;
  expected: typeof format1;
}

/** Of the first version with files, links, keys and S3. */
const FIRST: Fixture = { format: 1, expected: format1 };

/** Of the last version with one file. */
const ONE_FILE: Fixture = { format: 3, expected: format3 };

const FIXTURES = [FIRST, ONE_FILE];

const ADMINISTERED = { env: { KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN, ...S3_SECRET } };

/** The bytes of a file or a part: a line, again and again. */
function textOf(line: string, size: number): Uint8Array<ArrayBuffer> {
  const whole = utf8(`${line}\n`);
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += whole.length) bytes.set(whole.subarray(0, size - at), at);
  return bytes;
}

const FILES: Record<string, Uint8Array<ArrayBuffer>> = {
  "copy of large.bin": textOf("large.bin", 200_000),
  "copy of small.txt": textOf("small.txt", 3000),
  "dir/é😀": textOf("dir/é😀", 100),
  empty: new Uint8Array(),
  expiring: textOf("expiring", 40),
  "large.bin": textOf("large.bin", 200_000),
  "parts.bin": joinBytes([
    textOf("part 1", 5_000_000),
    textOf("part 2", 5_000_000),
    textOf("part 3", 70_000),
  ]),
  replaced: textOf("replaced", 60),
  "small.txt": textOf("small.txt", 3000),
};

/** Puts the store of the fixture into a folder. */
async function withFixture(
  { format }: Fixture,
  test: (folder: string) => Promise<void>,
): Promise<void> {
  await using folder = await Folder.make();
  const url = new URL(`./fixtures/format_${format}.db.gz`, import.meta.url);
  const bytes = gunzipSync(await Deno.readFile(url));
  await Deno.writeFile(`${folder.path}/kvdrive.db`, bytes);
  await test(folder.path);
}

async function start(data: string): Promise<TestServer> {
  return await TestServer.start({ data, args: ["--s3-port", "0"], ...ADMINISTERED });
}

function projectOf(server: TestServer, { expected }: Fixture): Project {
  return new Project(server, "old", expected.projectKey);
}

/** Asserts that the old files have their bytes and versions. */
async function assertOldFiles(drive: Drive, { expected }: Fixture): Promise<void> {
  for (const [name, bytes] of Object.entries(FILES)) {
    assertSameBytes((await drive.get(name)).expect(200).bytes, bytes);
  }
  const etags = (await drive.details()).map(({ name, etag }) => [name, etag]);
  for (const [name, etag] of Object.entries(expected.etags)) {
    assert(etags.some(([known, found]) => known === name && found === etag), name);
  }
}

/** Asserts that keys, links, the open upload, the trash and S3 are as they were. */
async function assertOldRecords(
  server: TestServer,
  drive: Drive,
  fixture: Fixture,
): Promise<void> {
  const { expected } = fixture;
  const project = projectOf(server, fixture);
  const reader = project.with(expected.readerKey).drive("drive one");
  assertSameBytes((await reader.get("dir/é😀")).expect(200).bytes, FILES["dir/é😀"] ?? utf8(""));
  (await reader.get("small.txt")).expect(403);
  const link = await fetch(server.origin + expected.link);
  assertSameBytes(new Uint8Array(await link.arrayBuffer()), FILES["small.txt"] ?? utf8(""));
  const guarded = await fetch(server.origin + expected.guardedLink);
  assertEquals([guarded.status, (await guarded.text()).includes("password")], [401, true]);
  const upload = new Upload(drive, "open.bin", expected.openUpload);
  assertEquals(await upload.parts(), [{ part: 1, size: 5_000_000 }, { part: 2, size: 1000 }]);
  const trash = (await drive.send("GET", "/trash")).expect(200).json as {
    items: { name: string; reason: string }[];
  };
  assertEquals(trash.items.map(({ name, reason }) => [name, reason]), [
    ["deleted.bin", "deleted"],
    ["replaced", "replaced"],
  ]);
  const origin = s3Of(server);
  const path = "/objects/object.txt";
  const host = new URL(origin).host;
  const headers = signedHeaders(expected.s3Key, { method: "GET", path, host });
  const object = await fetch(origin + path, { headers });
  assertEquals(
    [
      await object.text(),
      object.headers.get("x-amz-meta-color"),
      object.headers.get("content-type"),
    ],
    ["an object", "blue", "text/x-old"],
  );
}

/** Asserts that chunks and checksums are in the file for them, and none is among the records. */
function assertBytesMoved(data: string): void {
  const bytes = byteFileOf(data);
  assert(bytes !== undefined, "There is no file of chunks");
  for (const kind of ["chunk", "checksums"]) {
    const counts = [recordFileOf(data), bytes].map((path) =>
      withSqlite(path, (sqlite) => {
        const [from, to] = ["\0", "\x01"].map((end) =>
          new TextEncoder().encode(`\x02${kind}${end}`)
        );
        const query = sqlite.prepare("SELECT count(*) AS count FROM kv WHERE k >= ? AND k < ?");
        return Number(query.get(from ?? null, to ?? null)?.["count"]);
      })
    );
    assert(counts[0] === 0 && (counts[1] ?? 0) > 0, `${kind}: ${counts}`);
  }
}

for (const fixture of FIXTURES) {
  const { format, expected } = fixture;
  Deno.test(`A store of format ${format} is converted with everything in it, and works`, async () => {
    await withFixture(fixture, async (data) => {
      {
        await using server = await start(data);
        assertMatch(
          server.text,
          new RegExp(`The store has format ${format} and is converted to format \\d+`),
        );
        assertMatch(
          server.text,
          /The bytes of files move to a file of their own[^]*All bytes of files have moved: 15 MB/,
        );
        assertBytesMoved(data);
        const drive = projectOf(server, fixture).drive("drive one");
        await assertOldFiles(drive, fixture);
        await assertOldRecords(server, drive, fixture);
        const usage = (await projectOf(server, fixture).call("GET", "")).expect(200).json as Record<
          string,
          unknown
        >;
        const { max_bytes, trash_days, files, open_upload_bytes, trash_files, trash_bytes } = usage;
        assertEquals(
          { max_bytes, trash_days, files, open_upload_bytes, trash_files, trash_bytes },
          {
            max_bytes: 100_000_000,
            trash_days: 365,
            files: 10,
            open_upload_bytes: 5_001_000,
            trash_files: 2,
            trash_bytes: 150_050,
          },
        );
        assertEquals(await drive.usage(), { files: 9, bytes: 10_476_200 });
      }
      const commands = new StoreCommands(data);
      assertMatch(await commands.text("verify"), /^No problems found: 10 files/);
      await using server = await start(data);
      assert(!server.text.includes("converted"), server.text);
      const drive = projectOf(server, fixture).drive("drive one");
      await drive.put("new", textOf("new", 100_000));
      await drive.put("small.txt", textOf("again", 10));
      assertEquals(await drive.delete(["large.bin", "parts.bin"]), {
        deleted: ["large.bin", "parts.bin"],
        failed: [],
      });
      assertSameBytes(
        (await drive.get("copy of large.bin")).expect(200).bytes,
        FILES["large.bin"] ?? utf8(""),
      );
      const upload = new Upload(drive, "open.bin", expected.openUpload);
      (await upload.complete()).expect(200);
      const whole = joinBytes([textOf("open part 1", 5_000_000), textOf("open part 2", 1000)]);
      assertSameBytes((await drive.get("open.bin")).expect(200).bytes, whole);
      (await administer(server, "DELETE", `/v1/old/${encodeURIComponent("drive one")}/trash`, {
        as: { "X-Api-Key": expected.projectKey },
        body: { all: true },
      })).expect(200);
      await server.stop();
      assertMatch(await commands.text("verify"), /^No problems found: 10 files/);
    });
  });
}

Deno.test("A store of the first format with a record that cannot be decoded is converted as well", async () => {
  await withFixture(FIRST, async (data) => {
    breakRecord(data, ["old", "drive one", "replaced"]);
    await using server = await start(data);
    const drive = projectOf(server, FIRST).drive("drive one");
    const others = Object.keys(FILES).filter((name) => name !== "replaced");
    assertEquals(await drive.names(), others);
    assertMatch((await drive.get("replaced")).expect(500).text, /The file is damaged: restore it/);
    await drive.put("replaced", FILES["replaced"] ?? utf8(""));
    assertSameBytes((await drive.get("replaced")).expect(200).bytes, FILES["replaced"] ?? utf8(""));
  });
});

for (const fixture of FIXTURES) {
  Deno.test(`A conversion from format ${fixture.format} that is killed again and again is completed by the next start`, async () => {
    await withFixture(fixture, async (data) => {
      for (const milliseconds of [300, 450, 600, 800]) {
        const started = TestServer.start({ data, ...ADMINISTERED, readyTimeout: milliseconds });
        await started.then((server) => server[Symbol.asyncDispose](), () => {});
      }
      await using server = await start(data);
      const drive = projectOf(server, fixture).drive("drive one");
      await assertOldFiles(drive, fixture);
      await assertOldRecords(server, drive, fixture);
      await server.stop();
      assertBytesMoved(data);
      assertMatch(await new StoreCommands(data).text("verify"), /^No problems found/);
    });
  });
}

Deno.test("A store of the first format is checked and backed up as it is, and refused by other commands", async () => {
  await withFixture(FIRST, async (data) => {
    const commands = new StoreCommands(data);
    assertMatch(
      await commands.text("verify"),
      /^No problems found: 10 files.*\nThe store has the older format 1/s,
    );
    const backup = `${data}/backup.db`;
    await commands.text("backup", backup);
    const refused = await commands.run("project", "list");
    assertEquals([refused.code, refused.stdout], [1, ""]);
    assertMatch(refused.stderr, /it has format 1, .* start the server, which converts the store/);
    await using other = await Folder.make();
    const restored = new StoreCommands(`${other.path}/data`);
    await restored.text("restore", backup);
    await using server = await start(restored.data);
    await assertOldFiles(projectOf(server, FIRST).drive("drive one"), FIRST);
  });
});

Deno.test("A store of a newer format is refused by the server and by commands, and restored by none", async () => {
  await using folder = await Folder.make();
  const data = `${folder.path}/data`;
  {
    await using server = await TestServer.start({ data });
    await new Drive(server, "d").put("a", "bytes");
    await server.stop();
  }
  {
    using kv = await openRecords(data);
    await setFormat(kv, 1000);
  }
  const commands = new StoreCommands(data);
  const newer = /it has format 1000, which a newer version of kvdrive made/;
  const backup = `${folder.path}/newer.db`;
  await Deno.copyFile(`${data}/kvdrive.db`, backup);
  for (
    const words of [
      ["verify"],
      ["backup", `${folder.path}/copy.db`],
      ["project", "list"],
      ["serve", "--port", "0"],
    ]
  ) {
    const { code, stdout, stderr } = await commands.run(...words);
    assertEquals([code !== 0, stdout], [true, ""], words.join(" "));
    assertMatch(stderr, newer);
  }
  const restored = new StoreCommands(`${folder.path}/other`);
  const { code, stderr } = await restored.run("restore", backup);
  assertEquals(code !== 0, true);
  assertMatch(stderr, newer);
});

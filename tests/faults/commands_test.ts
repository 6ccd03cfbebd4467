import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { administer, ADMINISTERED, Project } from "../support/admin.ts";
import type { Answer } from "../support/answer.ts";
import { assertSameBytes, MIN_PART, patternBytes } from "../support/bytes.ts";
import { Folder, runCommand } from "../support/command.ts";
import { type Drive, query, Upload } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { auditStore } from "./support/audit/store_audit.ts";
import { sweepStore } from "./support/crash.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const ROUNDS = isFull() ? 20 : 2;
const CLIENTS = 6;
const MAX_OPEN_UPLOADS = 8;
const MAX_BYTES = 60_000_000;
const PART = patternBytes(MIN_PART, 1);

/** Expected rejections of an upload: the quota, or too many open uploads. */
const REJECTED = [507, 409];

/** A client with its own names, which tracks their expected content. */
class Writer {
  readonly files = new Map<string, Uint8Array<ArrayBuffer>>();
  rejected = 0;

  constructor(readonly id: number, readonly random: Random, readonly drives: readonly Drive[]) {}

  async step(): Promise<void> {
    const drive = this.random.pick(this.drives);
    const name = `${this.id}/${this.random.below(6)}`;
    const size = this.random.pick([0, 100, 65_536, 65_537, 300_000, 2_000_000]);
    const bytes = patternBytes(size, this.random.below(1000));
    const kind = this.random.weighted({ put: 8, delete: 3, upload: 4 });
    if (kind === "put") {
      const answer = await drive.send("POST", `/files${query({ name })}`, { body: bytes });
      this.note(answer, name, bytes);
    } else if (kind === "delete") {
      await drive.delete([name]);
      this.files.delete(name);
    } else await this.upload(drive, name, bytes);
  }

  private async upload(drive: Drive, name: string, last: Uint8Array<ArrayBuffer>): Promise<void> {
    const started = await drive.send("POST", `/uploads${query({ name })}`);
    if (this.isRejected(started)) return;
    const { upload_id: id } = started.expect(202).json as { upload_id: string };
    const upload = new Upload(drive, name, id);
    for (const [i, part] of [PART.subarray(0, 10), PART, last].entries()) {
      const sent = await upload.send(Math.max(1, i), part as Uint8Array<ArrayBuffer>);
      if (this.isRejected(sent)) return void (await upload.abort()).expect(200);
      sent.expect(200);
    }
    if (this.random.below(3) === 0) return void (await upload.abort()).expect(200);
    this.note(await upload.complete(), name, new Uint8Array([...PART, ...last]));
  }

  private isRejected({ status }: Answer): boolean {
    const isRejected = REJECTED.includes(status);
    if (isRejected) this.rejected++;
    return isRejected;
  }

  private note(answer: Answer, name: string, bytes: Uint8Array<ArrayBuffer>): void {
    if (this.isRejected(answer)) return;
    assert(answer.status < 300, answer.text);
    this.files.set(name, bytes);
  }
}

/** Runs commands of an administrator against busy servers. */
async function administrate(first: Project, folder: Folder, round: number): Promise<void> {
  const commands = new StoreCommands(folder.at("data"));
  assertMatch(await commands.text("verify"), /^No problems found/);
  assertMatch(await commands.text("verify", "--repair"), /^No problems found/);
  const other = await Project.make(first.server, { max_bytes: MAX_BYTES });
  const drive = other.drive("other");
  await drive.put("large", patternBytes(3_000_000, round));
  await Upload.start(drive, "open").then((upload) => upload.send(1, PART));
  const key = await commands.json<{ prefix: string }>("key", "create", other.id);
  await commands.text("key", "revoke", other.id, key.prefix, "--yes");
  if (round % 2 === 0) await commands.text("project", "delete", other.id, "--yes");
  else {
    const path = `${other.path}/drives/other`;
    (await administer(first.server, "DELETE", path)).expect(202);
  }
  assertMatch(await commands.text("verify", "--repair"), /^No problems found/);
  const copy = folder.at(`backup-${round}.db`);
  await commands.text("backup", copy);
  const restored = folder.at(`restored-${round}`);
  const { code, stderr } = await runCommand(["restore", copy, "--data", restored]);
  assertEquals(code, 0, stderr);
  assertMatch(await new StoreCommands(restored).text("verify"), /^No problems found/);
  await auditStore(restored, false);
}

Deno.test("Verification and repair beside two busy servers find no problems.", async () => {
  const seed = announceSeed();
  await using folder = await Folder.make();
  const options = {
    ...ADMINISTERED,
    data: folder.at("data"),
    args: ["--max-open-uploads", String(MAX_OPEN_UPLOADS), "--scrub-every", "1s"],
  };
  {
    await using first = await TestServer.start(options);
    await using second = await TestServer.start(options);
    const project = await Project.make(first, { max_bytes: MAX_BYTES });
    const places = [project, new Project(second, project.id, project.key)];
    const drives = places.map((place) => place.drive("drive"));
    const writers = Array.from(
      { length: CLIENTS },
      (_, i) => new Writer(i, new Random(seed + i), drives),
    );
    let isRunning = true;
    const load = Promise.all(writers.map(async (writer) => {
      while (isRunning) await writer.step();
    }));
    try {
      for (let round = 0; round < ROUNDS; round++) await administrate(project, folder, round);
    } finally {
      isRunning = false;
      await load;
    }
    const [drive] = drives;
    assert(drive !== undefined);
    const files = new Map(writers.flatMap((writer) => [...writer.files]));
    for (const [name, bytes] of files) {
      assertSameBytes((await drive.get(name)).expect(200).bytes, bytes, name);
    }
    const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
    assertEquals(await drive.usage(), { files: files.size, bytes });
    for (const server of [first, second]) {
      assertNotMatch(server.text, /"level":"error"|^\s+at .*:\d+:\d+/m);
      await server.stop();
    }
  }
  await auditStore(folder.at("data"), false);
  await sweepStore(folder.at("data"));
  await auditStore(folder.at("data"), true);
});

import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { administer, ADMINISTERED, administrator, Project } from "../support/admin.ts";
import type { Answer } from "../support/answer.ts";
import { patternBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { type Drive, query, Upload } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { auditStore } from "./support/audit/store_audit.ts";
import { sweepStore } from "./support/crash.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const CLIENTS = 16;
const LOW = 400_000;
const HIGH = 600_000;

/** A client with its own names, which tracks their expected sizes. */
class Writer {
  readonly sizes = new Map<string, number>();
  rejected = 0;

  constructor(
    readonly id: number,
    readonly random: Random,
    readonly drives: readonly Drive[],
  ) {}

  async step(): Promise<void> {
    const drive = this.random.pick(this.drives);
    const name = `${this.id}-${this.random.below(8)}`;
    // Small files are stored next to their records, large ones in chunks.
    const size = this.random.below(this.random.below(4) === 0 ? 150_000 : 20_000);
    switch (this.random.weighted({ put: 6, upload: 2, delete: 3 })) {
      case "put": {
        const body = patternBytes(size, this.id);
        return this.note(
          await drive.send("POST", `/files${query({ name })}`, { body }),
          name,
          size,
        );
      }
      case "upload":
        return await this.upload(drive, name, size);
      case "delete":
        await drive.delete([name]);
        this.sizes.delete(name);
    }
  }

  private async upload(drive: Drive, name: string, size: number): Promise<void> {
    const upload = await Upload.start(drive, name);
    // The part is sent twice in two sizes, of which only the second counts.
    const first = await upload.send(1, patternBytes(this.random.below(20_000), this.id));
    if (first.status !== 507) first.expect(200);
    const part = await upload.send(1, patternBytes(size, this.id));
    if (part.status === 507) this.rejected++;
    // Received parts have reserved their bytes, so that the completion fits.
    else this.note(part.expect(200) && (await upload.complete()).expect(200), name, size);
    if (part.status === 507 && this.random.below(2) === 0) (await upload.abort()).expect(200);
  }

  private note(answer: Answer, name: string, size: number): void {
    if (answer.status === 507) this.rejected++;
    else {
      assert(answer.status < 300, answer.text);
      this.sizes.set(name, size);
    }
  }
}

/** Runs all writers to their end before the first failure is thrown. */
async function runAll(writers: readonly Writer[], steps: number): Promise<void> {
  const outcomes = await Promise.allSettled(writers.map(async (writer) => {
    for (let i = 0; i < steps; i++) await writer.step();
  }));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

Deno.test("Two servers exceed a quota by what they write at once, and count it exactly.", async () => {
  const seed = announceSeed();
  await using folder = await Folder.make();
  {
    const options = { ...ADMINISTERED, data: folder.path };
    await using first = await TestServer.start(options);
    await using second = await TestServer.start(options);
    const project = await Project.make(first, { max_bytes: LOW });
    const places = [project, new Project(second, project.id, project.key)];
    const drives = places.map((place) => place.drive("drive"));
    const writers = Array.from({ length: CLIENTS }, (_, i) => {
      return new Writer(i, new Random(seed + i), drives);
    });
    let isRunning = true;
    const sums: number[] = [];
    const changing = changeQuota(places, () => isRunning, sums);
    try {
      await runAll(writers, isFull() ? 400 : 40);
    } finally {
      isRunning = false;
      await changing;
    }
    const sizes = new Map(writers.flatMap((writer) => [...writer.sizes]));
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    assertEquals(await drives[0]?.usage(), { files: sizes.size, bytes });
    const open = (await project.call("GET", "")).expect(200).json as { open_upload_bytes: number };
    assert(writers.some(({ rejected }) => rejected > 0), "No write was rejected");
    // Each of the two may fill what is left when it looks.
    assert(sums.length > 1 && sums.every((sum) => sum <= 2 * HIGH), `${Math.max(...sums)} bytes`);
    await fill(places, bytes + open.open_upload_bytes);
    for (const server of [first, second]) {
      assertNotMatch(server.text, /locked|^\s+at .*:\d+:\d+/m);
      await server.stop();
    }
  }
  await auditStore(folder.path, false);
  await sweepStore(folder.path);
  await auditStore(folder.path, true);
});

/** Changes the quota and records the usage through both servers while others write. */
async function changeQuota(
  places: readonly Project[],
  isRunning: () => boolean,
  sums: number[],
): Promise<void> {
  for (let i = 0; isRunning(); i++) {
    const [place] = i % 2 ? places : places.slice(1);
    if (place === undefined) return;
    const body = { max_bytes: i % 4 < 2 ? HIGH : LOW };
    const answer = await administer(place.server, "PATCH", place.path, { as: administrator, body });
    const shown = answer.expect(200).json as { bytes: number; open_upload_bytes: number };
    sums.push(shown.bytes + shown.open_upload_bytes);
  }
}

/** Asserts that the rest of the quota can be filled to the last byte. */
async function fill([first, second]: readonly Project[], used: number): Promise<void> {
  assert(first !== undefined && second !== undefined);
  const max_bytes = used + 1000;
  (await first.call("PATCH", "", { body: { max_bytes } })).expect(200);
  await second.drive("drive").put("rest", patternBytes(1000));
  const path = `/files${query({ name: "one more" })}`;
  for (const { drive } of [first, second].map((one) => ({ drive: one.drive("drive") }))) {
    (await drive.send("POST", path, { body: "x" })).expect(507);
  }
}

const KILLS = isFull() ? 60 : 6;
/** The longest time under load before a server is killed, in milliseconds. */
const MAX_LOAD_TIME = 800;

Deno.test("After a kill open uploads count with the bytes they hold.", async () => {
  const random = new Random(announceSeed());
  await using folder = await Folder.make();
  const options = { ...ADMINISTERED, data: folder.path, args: ["--max-open-uploads", "24"] };
  let project: Project | undefined;
  for (let round = 0; round < KILLS; round++) {
    await using server = await TestServer.start(options);
    project = project === undefined
      ? await Project.make(server, { max_bytes: LOW })
      : new Project(server, project.id, project.key);
    await loadUntilKilled(server, project.drive("drive"), random);
    await auditStore(folder.path, false);
  }
  await sweepStore(folder.path);
  await auditStore(folder.path, true);
  await using server = await TestServer.start(options);
  await fillAfterAborts(new Project(server, project?.id ?? "", project?.key ?? ""));
});

/** Starts uploads, sends parts, completes and aborts until the server is killed. */
async function loadUntilKilled(server: TestServer, drive: Drive, random: Random): Promise<void> {
  let isKilled = false;
  const client = async (id: number) => {
    for (let i = 0; !isKilled; i++) {
      const { uploads } = (await drive.send("GET", "/uploads")).json as {
        uploads: { upload_id: string; name: string }[];
      };
      const open = uploads.map(({ upload_id, name }) => new Upload(drive, name, upload_id));
      if (open.length < 20) {
        await drive.send("POST", `/uploads${query({ name: `${id}-${i % 4}` })}`);
      }
      const one = open.length === 0 ? undefined : random.pick(open);
      const size = random.below(2) === 0 ? random.below(90_000) : random.below(9000);
      await one?.send(1 + random.below(3), patternBytes(size, i));
      if (random.below(4) === 0) await (random.below(2) === 0 ? one?.complete() : one?.abort());
    }
  };
  // Running requests fail with the kill.
  const clients = Array.from({ length: CLIENTS }, (_, id) => client(id).catch(() => {}));
  await delay(100 + random.below(MAX_LOAD_TIME));
  await server.stop("SIGKILL");
  isKilled = true;
  await Promise.all(clients);
}

/** Aborts all uploads, and asserts that the whole quota is available for files. */
async function fillAfterAborts(project: Project): Promise<void> {
  const drive = project.drive("drive");
  const { uploads } = (await drive.send("GET", "/uploads")).json as {
    uploads: { upload_id: string; name: string }[];
  };
  await Promise.all(uploads.map(async ({ upload_id, name }) => {
    (await new Upload(drive, name, upload_id).abort()).expect(200);
  }));
  const { bytes } = await drive.usage() ?? { bytes: 0 };
  await drive.put("rest", patternBytes(LOW - bytes));
  (await drive.send("POST", `/files${query({ name: "more" })}`, { body: "x" })).expect(507);
  const ids = Array.from({ length: 40 }, (_, i) => `/uploads${query({ name: `${i}` })}`);
  const answers = await Promise.all(ids.map((path) => drive.send("POST", path)));
  assertEquals(answers.filter(({ status }) => status === 202).length, 24);
}

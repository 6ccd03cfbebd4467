import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { fromFileUrl } from "@std/path/from-file-url";
import { openDatabase } from "../engine/database_file.ts";
import { databasePath } from "../disk/store_files.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { Store } from "../store.ts";
import { bytes, DRIVE, place } from "../testing/bodies.ts";
import { assertKeys, keyKinds } from "../testing/entries.ts";
import { put, read } from "../testing/files.ts";
import {
  addProject,
  lateGarbage,
  sweepLater,
  sweepLateWrites,
  type TestStore,
  withFolder,
} from "../testing/stores.ts";
import { verifyStore } from "../verify/verify.ts";

const WRITER = fromFileUrl(new URL("../testing/killed_writer.ts", import.meta.url));

/** MiB after which the writer of a large body is killed: more than one page of checksums. */
const KILLED_AT = 300;
const ROUNDS = 8;
const MAX_LOAD_TIME = 400;

async function withStore(folder: string, work: (bench: TestStore) => Promise<void>): Promise<void> {
  const onError = (error: unknown): never => {
    throw error;
  };
  const db = await openDatabase(folder);
  const store = new Store(db, { onError });
  try {
    await work({ db, store });
  } finally {
    await store.close();
  }
}

/** Runs the writer and kills it some milliseconds after it has printed a line for which `isReached` holds. */
async function killWriter(
  work: "body" | "uploads",
  folder: string,
  isReached: (step: number) => boolean,
  after = 0,
): Promise<void> {
  const writer = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", WRITER, work, folder],
    stdout: "piped",
  }).spawn();
  let kill: Promise<void> | undefined;
  for await (const text of writer.stdout.pipeThrough(new TextDecoderStream())) {
    // A truncated number is too small.
    const step = Number(text.trimEnd().split("\n").at(-1));
    if (isReached(step)) kill ??= delay(after).then(() => writer.kill("SIGKILL"));
  }
  await kill;
  await writer.status;
}

async function assertNoProblems(folder: string): Promise<void> {
  const { problems } = await verifyStore(databasePath(folder));
  assertEquals(problems.map(({ message }) => message), []);
}

Deno.test("A server that is killed in the middle of a large body leaves the earlier file, and nothing else", async () => {
  await withFolder(async (folder) => {
    await withStore(folder, async (bench) => {
      await addProject(bench.db);
      await put(bench, "large", bytes(3 * CHUNK_SIZE));
    });
    await killWriter("body", folder, (step) => step >= KILLED_AT);
    await assertNoProblems(folder);
    await withStore(folder, async (bench) => {
      assertEquals(await read(bench, "large"), bytes(3 * CHUNK_SIZE));
      const { chunk = 0, pending } = await keyKinds(bench);
      assert(chunk > KILLED_AT * 8 && pending === 1, `${chunk} chunks`);
      await sweepLater(bench);
      const whole = { file: 1, chunk: 3, "usage files": 1, "usage bytes": 1 };
      await assertKeys(bench, { ...whole, ...lateGarbage(bench) });
      await sweepLateWrites(bench);
      await assertKeys(bench, whole);
    });
    await assertNoProblems(folder);
  });
});

Deno.test("A server that is killed while it completes uploads leaves whole files of the chosen parts", async () => {
  await withFolder(async (folder) => {
    await withStore(folder, ({ db }) => addProject(db));
    for (let round = 0; round < ROUNDS; round++) {
      const after = Math.random() * MAX_LOAD_TIME;
      await killWriter("uploads", folder, () => true, after);
      await assertNoProblems(folder);
    }
    const whole = new Uint8Array(
      await new Blob([1, 3, 5].map((part) => bytes(CHUNK_SIZE + part, part))).arrayBuffer(),
    );
    await withStore(folder, async (bench) => {
      for (const name of ["file 0", "file 1", "file 2"]) {
        const found = await read(bench, name);
        if (found !== undefined) assertEquals(found, whole);
      }
      const { entries } = await bench.store.listObjects({
        ...{ ...DRIVE, prefix: "", after: "", limit: 10 },
      });
      await abortAll(bench);
      await sweepLater(bench);
      await sweepLateWrites(bench);
      const { chunk, part, garbage } = await keyKinds(bench);
      assertEquals([chunk, part, garbage], [6 * entries.length, undefined, undefined]);
    });
    await assertNoProblems(folder);
  });
});

async function abortAll({ store: { uploads } }: TestStore): Promise<void> {
  const { uploads: open } = await uploads.list(DRIVE.project, DRIVE.drive, {
    ...{ limit: 1000, last: "" },
  });
  for (const { id, session: { name } } of open) await uploads.abort(place(name), id);
}

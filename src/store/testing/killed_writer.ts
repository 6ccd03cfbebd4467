/**
 * Writes to a store until the process is killed. A line is printed after each step.
 *
 *     deno run -A src/store/testing/killed_writer.ts body|uploads FOLDER
 *
 * @module
 */
import { GIB, MIB } from "../../rules/units.ts";
import { openDatabase } from "../engine/database_file.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { Store } from "../store.ts";
import { ANYWAY, bytes, inPieces, place } from "./bodies.ts";

function print(step: number): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${step}\n`));
}

/** Sends a body of 2 GiB. */
async function sendBody({ files }: Store): Promise<void> {
  const piece = bytes(MIB);
  async function* body(): AsyncGenerator<Uint8Array> {
    for (let sent = 0; sent < 2 * GIB; sent += piece.byteLength) {
      yield piece;
      print(sent / MIB);
    }
  }
  await files.put(place("large"), body(), { ...ANYWAY, maxSize: 5 * GIB });
}

/** Makes files of every other part of uploads. Those of one name have the same bytes. */
async function completeUploads({ uploads }: Store): Promise<void> {
  for (let round = 0;; round++) {
    const to = place(`file ${round % 3}`);
    const id = await uploads.start(to, undefined);
    for (let part = 1; part <= 6; part++) {
      const body = inPieces(bytes(CHUNK_SIZE + part, part));
      await uploads.putPart(to, { id, part, type: undefined }, body, () => {});
    }
    await uploads.complete(to, id, () => true, {
      choose: (parts) => ({ parts: parts.filter(({ part }) => part % 2 === 1), md5Tag: "of 3" }),
    });
    print(round);
  }
}

if (import.meta.main) {
  const [work, folder = ""] = Deno.args;
  const onError = (error: unknown): never => {
    throw error;
  };
  const store = new Store(await openDatabase(folder), { onError });
  store.sweeper.start();
  await (work === "body" ? sendBody : completeUploads)(store);
}

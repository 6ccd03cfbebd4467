import { assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path/join";
import { download } from "./download.ts";
import type { FileInfo } from "./drives.ts";
import { FileChanged } from "./errors.ts";
import type { RemoteDrives } from "./remote_drives.ts";
import { Retrier } from "./retrier.ts";

const FILE: FileInfo = { name: "a", size: 250_000, type: "text/plain", etag: "1", modified: 0 };
const PIECE = new Uint8Array(100_000).fill(1);

/** A server that sends pieces of a file without end. */
function endless(onPiece: () => void): { drives: RemoteDrives; isStopped: () => boolean } {
  let isStopped = false;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        onPiece();
        yield await Promise.resolve(PIECE);
      }
    } finally {
      isStopped = true;
    }
  }
  const drives = {
    identity: "test",
    retrier: new Retrier({ retryFor: 0 }),
    read: () => Promise.resolve({ bytes: pieces(), sha256: undefined }),
  } as unknown as RemoteDrives;
  return { drives, isStopped: () => isStopped };
}

Deno.test("A download stops at the announced length, also if the server sends more", async () => {
  const folder = await Deno.makeTempDir();
  try {
    let pieces = 0;
    let received = 0;
    const { drives, isStopped } = endless(() => void pieces++);
    const source = { drives, drive: "d", file: FILE };
    const onBytes = (count: number) => void (received += count);
    await assertRejects(() => download(source, join(folder, "a"), { onBytes }), FileChanged);
    assertEquals([pieces, received, isStopped()], [3, 200_000, true]);
    assertEquals((await Array.fromAsync(Deno.readDir(folder))).length, 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

import { join } from "@std/path/join";
import type { Scope } from "./scope.ts";
import { byteFileOf, randomBytes } from "./server.ts";

const HOSTNAME = "127.0.0.1";

/** Older runtimes have no such option. */
const QUIET = { automaticCompression: false };

/** Serves requests in this process, which has no other work while a load runs. Returns the address. */
export function serveHere(scope: Scope, handler: Deno.ServeHandler): string {
  const server = Deno.serve({ port: 0, hostname: HOSTNAME, ...QUIET, onListen() {} }, handler);
  scope.onClose(() => server.shutdown());
  return `http://${HOSTNAME}:${server.addr.port}`;
}

const CHUNK = 65_536;

/** Answers every request with as many bytes from memory, in chunks as large as those of the store. Returns the address. */
export function serveFromMemory(scope: Scope, size: number): string {
  const bytes = randomBytes(size);
  const headers = { "Content-Type": "application/octet-stream", "Content-Length": String(size) };
  const stream = (): ReadableStream<Uint8Array> => {
    let at = 0;
    return new ReadableStream({
      pull(controller) {
        controller.enqueue(bytes.subarray(at, at += CHUNK));
        if (at >= size) controller.close();
      },
    });
  };
  return serveHere(scope, () => new Response(size > CHUNK ? stream() : bytes, { headers }));
}

/** A small web application: each answer is a page of some 1500 bytes, made for the request. Returns the address. */
export function serveApplication(scope: Scope): string {
  return serveHere(scope, () => {
    const now = Date.now();
    const entries = Array.from({ length: 20 }, (_, id) => {
      return { id, name: `entry ${id}`, changed: now - id, text: "some words about it" };
    });
    return Response.json({ entries });
  });
}

/** Operations on their way to the store at once, and seconds of a measurement. */
const IN_FLIGHT = 3;
const SECONDS = 1;

/** Small files a second, each a record and its bytes, put straight into Deno KV in groups of 16. */
export async function smallFilesLimit(
  scope: Scope,
  size: number,
): Promise<() => Promise<number>> {
  const kv = await openKv(scope, join(await scope.makeFolder(), "limit.db"));
  const record = { size, sha256: "0".repeat(44), type: "application/octet-stream", created: 0 };
  const bytes = randomBytes(size);
  return () =>
    commitsPerSecond(kv, 16, (operation, n) => {
      operation.set(["file", "bench", "files", `new-${n}`], { ...record, version: n });
      operation.set(["content", n], bytes);
    });
}

/** MB of chunks a second, put straight into Deno KV. @param data A data folder without a server, whose pages are used. */
export async function chunksLimit(scope: Scope, data: string): Promise<() => Promise<number>> {
  const path = join(await scope.makeFolder(), "limit.db");
  await Deno.copyFile(byteFileOf(data), path);
  const kv = await openKv(scope, path);
  const bytes = randomBytes(CHUNK);
  const put = (operation: Deno.AtomicOperation, n: number): void => {
    operation.set(["chunk", n], bytes);
  };
  return async () => await commitsPerSecond(kv, 12, put) * CHUNK / 1e6;
}

async function openKv(scope: Scope, path: string): Promise<Deno.Kv> {
  const kv = await Deno.openKv(path);
  scope.onClose(() => Promise.resolve(kv.close()));
  return kv;
}

/** Puts ever new entries into a store. Returns how many are put in a second. */
async function commitsPerSecond(
  kv: Deno.Kv,
  together: number,
  put: (operation: Deno.AtomicOperation, n: number) => void,
): Promise<number> {
  const first = Date.now() * 1000;
  let n = 0;
  const started = performance.now();
  const end = started + SECONDS * 1000;
  await Promise.all(Array.from({ length: IN_FLIGHT }, async () => {
    while (performance.now() < end) {
      const operation = kv.atomic();
      for (let i = 0; i < together; i++) put(operation, first + n++);
      await operation.commit();
    }
  }));
  return n * 1000 / (performance.now() - started);
}

import { assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path/join";
import { commandRetrier, Connection, type RetryOptions } from "./connection.ts";
import { copyVersion, download } from "./download.ts";
import { type FileInfo, RemoteDrives } from "./drives.ts";
import { KvdriveError } from "./errors.ts";

const FILE: FileInfo = { name: "a", size: 250_000, type: "text/plain", etag: "1", modified: 0 };
const PIECE = new Uint8Array(100_000).fill(1);

/** The drives of a server that answers as a function says. */
function drivesOf(
  fetch: (request: Request) => Response,
  options: RetryOptions = { retryFor: 0 },
): RemoteDrives {
  return new RemoteDrives(
    new Connection({
      url: "http://localhost",
      credentials: { kind: "key", project: "p", secret: "p_secret" },
      retrier: commandRetrier(options),
      local: { place: "test", fetch: (request) => Promise.resolve(fetch(request)) },
    }),
  );
}

function answer(body: ReadableStream<Uint8Array<ArrayBuffer>>, from: number): Response {
  return new Response(body, {
    status: from === 0 ? 200 : 206,
    headers: {
      ETag: '"1"',
      "Content-Length": `${FILE.size - from}`,
      "Content-Range": `bytes ${from}-${FILE.size - 1}/${FILE.size}`,
    },
  });
}

Deno.test("A download stops at the announced length, also if the server sends more", async () => {
  const folder = await Deno.makeTempDir();
  try {
    let pieces = 0;
    let received = 0;
    let isStopped = false;
    const endless = new ReadableStream({
      pull(controller) {
        pieces++;
        controller.enqueue(PIECE);
      },
      cancel: () => void (isStopped = true),
    }, { highWaterMark: 0 });
    const source = { drives: drivesOf(() => answer(endless, 0)), drive: "d", file: FILE };
    const onBytes = (count: number) => void (received += count);
    const fetched = () => download(source, join(folder, "a"), { onBytes });
    const error = await assertRejects(fetched, KvdriveError);
    assertEquals([error.code, pieces, received, isStopped], ["file_changed", 3, 200_000, true]);
    assertEquals((await Array.fromAsync(Deno.readDir(folder))).length, 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("Bytes that arrive restart the time limit of a download", async () => {
  const starts: number[] = [];
  let time = 0;
  const drives = drivesOf((request) => {
    const [, first = "0"] = /bytes=(\d+)/.exec(request.headers.get("range") ?? "") ?? [];
    const from = Number(first);
    starts.push(from);
    let isFirst = true;
    const broken = new ReadableStream({
      pull(controller) {
        if (!isFirst) return controller.error(new TypeError("connection reset"));
        isFirst = false;
        controller.enqueue(PIECE.slice(0, 10_000));
      },
    }, { highWaterMark: 0 });
    return answer(broken, from);
  }, {
    retryFor: 1000,
    now: () => time,
    random: () => 1,
    pause: (milliseconds) => {
      time += milliseconds;
      return Promise.resolve();
    },
  });
  let received = 0;
  const source = { drives, drive: "d", file: FILE };
  await copyVersion(source, 0, (bytes) => void (received += bytes.byteLength));
  assertEquals([received, starts.length, time > 5000], [FILE.size, 25, true]);
});

import type { Experiment, Measure } from "../experiment.ts";
import { sendEach } from "../load.ts";
import { assert, inDrive, randomBytes, Server } from "../server.ts";

const DRIVE = "archive";
const SMALL_FILES = 990;
const SMALL_SIZE = 4096;
const LARGE_FILES = 10;
const LARGE_SIZE = 10 * 2 ** 20;

/** An archive of many small files and some large ones, beside a download of as many bytes in one file. */
export const archive: Experiment = {
  rows: [{
    name: "archive of 990 files of 4 KiB and 10 of 10 MiB",
    unit: "MB/s",
    bound: "at least",
    required: 0.7,
  }],
  async prepare({ scope }, checkout) {
    const server = await Server.start(scope, checkout);
    const { origin } = server;
    const upload = inDrive(DRIVE, "/files?name=small-{n}");
    const small = { origin, method: "POST", target: upload, body: SMALL_SIZE } as const;
    await sendEach(scope, { ...small, connections: 16, seconds: 0 }, SMALL_FILES);
    const bytes = randomBytes(LARGE_SIZE);
    const { upload_id } = await server.callJson<{ upload_id: string }>(
      202,
      "POST",
      inDrive("whole", "/uploads?name=whole"),
    );
    const parts = inDrive("whole", `/uploads/${upload_id}`);
    for (let i = 1; i <= LARGE_FILES; i++) {
      await server.call(201, "POST", inDrive(DRIVE, `/files?name=large-${i}`), bytes);
      await server.call(200, "POST", `${parts}/parts?name=whole&part=${i}`, bytes);
    }
    await server.call(200, "PATCH", `${parts}?name=whole`);
    const all = JSON.stringify({ prefixes: [""] });
    return {
      work: throughput(() => server.call(200, "POST", inDrive(DRIVE, "/archive"), all)),
      limit: throughput(() =>
        server.call(200, "GET", inDrive("whole", "/files/download?name=whole"))
      ),
    };
  },
};

function throughput(download: () => Promise<Uint8Array>): Measure {
  return async () => {
    const began = performance.now();
    const { byteLength } = await download();
    assert(byteLength >= LARGE_FILES * LARGE_SIZE, `${byteLength} bytes`);
    return [byteLength / 1000 / (performance.now() - began)];
  };
}

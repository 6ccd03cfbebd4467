import { assert } from "@std/assert";
import { delay } from "@std/async/delay";
import { MAX_PAYLOAD, MIB, patternBytes } from "./bytes.ts";
import { Drive, uploadParts } from "./drive.ts";
import { GatedBody, PacedDownload } from "./paced_body.ts";
import { TestServer } from "./server.ts";

/** More than the buffers between two processes hold, so that the server is still sending it. */
export const LARGE = patternBytes(25 * MIB, 1);

/** How long anything may take that should happen at once. */
export const SOON = 45_000;

export const SIGNALS: readonly Deno.Signal[] = ["SIGTERM", "SIGINT"];

export async function storeLarge(drive: Drive): Promise<void> {
  const parts = [0, 1, 2].map((i) => LARGE.slice(i * MAX_PAYLOAD, (i + 1) * MAX_PAYLOAD));
  await uploadParts(drive, "large", parts);
}

export async function beginDownload(drive: Drive): Promise<PacedDownload> {
  const path = "/files/download?name=large";
  return await PacedDownload.begin(await drive.server.fetch(drive.name, path));
}

/** The server answers a request that came later, so it has taken up the one that is paused. */
export async function isUnderWay(upload: GatedBody, drive: Drive): Promise<void> {
  await upload.halfSent;
  await drive.names();
}

/** Waits until the server that is shutting down takes no more work. */
export async function turnsAway(server: TestServer): Promise<void> {
  const end = Date.now() + SOON;
  while (await isReady(server)) {
    assert(Date.now() < end, "The server went on as if there had been no signal");
    await delay(20);
  }
}

export async function isReady(server: TestServer): Promise<boolean> {
  try {
    const answer = await server.fetch("drive", "/files?limit=1");
    await answer.body?.cancel();
    return answer.ok;
  } catch (error) {
    // It listens no more.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

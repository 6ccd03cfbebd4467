import { assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { patternBytes } from "../support/bytes.ts";
import { Drive, uploadParts } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { fillDisk, SmallDisk } from "./support/disk.ts";

/** Lifetime of uploads, and the longest interval at which Deno KV removes expired entries, in milliseconds. */
const UPLOAD_TTL = 10_000;
const KV_EXPIRY_INTERVAL = 61_000;

Deno.test("The server survives expiring entries on a full disk.", async () => {
  await using disk = await SmallDisk.mount();
  if (disk === undefined) return;
  const data = `${disk.path}/data`;
  const args = ["--disk-reserve", "0", "--upload-ttl", "10s", "--scrub-every", "off"];
  await using server = await TestServer.start({ data, args });
  const drive = new Drive(server, "disk");
  for (const name of ["a", "b", "c"]) await uploadParts(drive, name, [patternBytes(1000)]);
  await delay(UPLOAD_TTL);
  const filler = `${disk.path}/filler`;
  await fillDisk(filler);
  // If the server ended, the next request fails.
  await delay(KV_EXPIRY_INTERVAL);
  assertEquals(await drive.names(), ["a", "b", "c"]);
  assertEquals(await drive.delete(["a"]), { deleted: ["a"], failed: [] });
  await Deno.remove(filler);
  await server.stop();
});

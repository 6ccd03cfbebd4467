import { assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { patternBytes } from "../support/bytes.ts";
import { Drive, uploadParts } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { fillDisk, SmallDisk } from "./support/disk.ts";

/** How long uploads live here, and how often Deno KV looks for expired entries at least, in milliseconds. */
const UPLOAD_TTL = 10_000;
const KV_EXPIRY_INTERVAL = 61_000;

Deno.test("What expires while another program has filled the disk does not end the server.", async () => {
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
  // Where it ends the server, waiting for the answer fails.
  await delay(KV_EXPIRY_INTERVAL);
  assertEquals(await drive.names(), ["a", "b", "c"]);
  assertEquals(await drive.delete(["a"]), { deleted: ["a"], failed: [] });
  await Deno.remove(filler);
  await server.stop();
});

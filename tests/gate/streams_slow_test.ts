import { assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { withKey } from "../support/admin.ts";
import { MIB } from "../support/bytes.ts";
import { Gate } from "../support/gate/gate.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { UpstreamApp, zeros } from "../support/gate/upstream_app.ts";
import { assertBoundedMemory } from "../support/server.ts";

const GIB = 1024 * MIB;

Deno.test("An upload of 1 GiB passes whole, in chunks and with a length, in bounded memory.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  const key = await gate.protect(upstream.origin);
  const hash = createHash("sha256");
  for await (const piece of zeros(GIB)) hash.update(piece);
  const wanted = { size: GIB, sha256: hash.digest("hex") };
  await assertBoundedMemory(gate.server, async () => {
    const init = { method: "POST", headers: withKey(key), body: zeros(GIB) };
    assertEquals(await (await gate.fetch("/upload", init)).json(), wanted);
    using client = await RawClient.connect(gate.port);
    await client.send(
      `POST ${gate.prefix()}/upload HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${key}\r\nContent-Length: ${GIB}\r\n\r\n`,
    );
    for await (const piece of zeros(GIB)) await client.sendBytes(piece);
    assertEquals(JSON.parse((await client.readAnswer()).body), wanted);
  });
});

Deno.test("A download of 1 GiB passes whole in bounded memory.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.shared();
  await gate.open(upstream.origin);
  await assertBoundedMemory(gate.server, async () => {
    const response = await gate.fetch(`/download?size=${GIB}`);
    assertEquals(response.headers.get("Content-Length"), String(GIB));
    let size = 0;
    for await (const piece of response.body ?? []) size += piece.byteLength;
    assertEquals(size, GIB);
  });
});

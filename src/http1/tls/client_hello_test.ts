import { Buffer } from "node:buffer";
import { connect as connectTls } from "node:tls";
import { assert, assertEquals } from "@std/assert";
import { type ClientHello, parseClientHello } from "./client_hello.ts";

/** Returns what a client of the runtime sends first. */
async function realHello(servername: string): Promise<Uint8Array> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const options = {
    host: "127.0.0.1",
    port: listener.addr.port,
    servername,
  };
  const client = connectTls(options);
  client.on("error", () => {});
  using connection = await listener.accept();
  const buffer = new Uint8Array(16_384);
  let length = 0;
  while (parseClientHello(buffer.subarray(0, length)) === undefined) {
    length += await connection.read(buffer.subarray(length)) ?? 0;
  }
  client.destroy();
  return buffer.slice(0, length);
}

/** Puts the message of a hello into records of a size. */
function fragmented(hello: Uint8Array, size: number): Uint8Array {
  const message = hello.subarray(5);
  const records: Uint8Array[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Uint8Array.of(22, 3, 1, part.length >> 8, part.length & 255), part);
  }
  return Buffer.concat(records);
}

Deno.test("The host name of a real client is found", async () => {
  const hello = await realHello("Files.Example.com");
  const wanted: ClientHello = { serverName: "files.example.com" };
  assertEquals(parseClientHello(hello), wanted);
  for (const size of [1, 3, 100]) assertEquals(parseClientHello(fragmented(hello, size)), wanted);
  assertEquals(parseClientHello(Buffer.concat([hello, Uint8Array.of(1, 2, 3)])), wanted);
});

Deno.test("Each beginning of a hello needs more bytes", async () => {
  const hello = await realHello("a.example.com");
  for (let length = 0; length < hello.length; length++) {
    assertEquals(parseClientHello(hello.subarray(0, length)), undefined, `${length} bytes`);
  }
  const parts = fragmented(hello, 7);
  for (let length = 0; length < parts.length; length++) {
    assertEquals(
      parseClientHello(parts.subarray(0, length)),
      undefined,
      `${length} bytes in parts`,
    );
  }
});

Deno.test("What is no hello is malformed, and no bytes make the parser fail", async () => {
  for (
    const text of [
      "GET / HTTP/1.1\r\n",
      "\x16\x02",
      "\x16\x03\x01\0\0",
      "\x16\x03\x01\0\x04\x02\0\0\0",
      "\x16\x03\x01\0\x04\x01\xff\xff\xff",
    ]
  ) {
    assertEquals(parseClientHello(Buffer.from(text, "latin1")), "malformed", JSON.stringify(text));
  }
  const hello = await realHello("a.example.com");
  let malformed = 0;
  for (let at = 0; at < hello.length; at++) {
    for (const value of [0, 1, 255, (hello[at] ?? 0) ^ 0x80]) {
      const changed = hello.slice();
      changed[at] = value;
      if (parseClientHello(changed) === "malformed") malformed++;
    }
  }
  assert(malformed > 0);
});

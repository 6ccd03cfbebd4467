import type { Project } from "../../support/admin.ts";

const CONNECTIONS = 64;

/**
 * Stores many files of one byte. Uses parallel raw connections, because `fetch` would take minutes for 100,000 files.
 *
 * @param nameOf Returns the name of a file by its index.
 */
export async function putMany(
  { server, id, key }: Project,
  drive: string,
  count: number,
  nameOf: (index: number) => string,
): Promise<void> {
  const head = `Host: 127.0.0.1\r\nX-Api-Key: ${key}\r\nContent-Length: 1\r\n\r\nx`;
  let next = 0;
  const run = async () => {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
    while (next < count) {
      const name = encodeURIComponent(nameOf(next++));
      await send(connection, `POST /v1/${id}/${drive}/files?name=${name} HTTP/1.1\r\n${head}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, run));
}

/** Sends a request. The short response arrives in one read. */
async function send(connection: Deno.TcpConn, request: string): Promise<void> {
  await connection.write(new TextEncoder().encode(request));
  const buffer = new Uint8Array(4096);
  const read = await connection.read(buffer) ?? 0;
  const response = new TextDecoder().decode(buffer.subarray(0, read));
  if (!response.startsWith("HTTP/1.1 201")) throw new Error(`A file was not stored: ${response}`);
}

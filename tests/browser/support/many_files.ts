import type { Project } from "../../support/admin.ts";

const LINES = 64;

/**
 * Puts so many files of one byte into a drive, side by side over plain connections, since a hundred thousand of them
 * would take minutes by `fetch`.
 *
 * @param nameOf The name of a file by its number, from 0.
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
      await ask(connection, `POST /v1/${id}/${drive}/files?name=${name} HTTP/1.1\r\n${head}`);
    }
  };
  await Promise.all(Array.from({ length: LINES }, run));
}

/** An answer to a put is short: it comes in one piece. */
async function ask(connection: Deno.TcpConn, request: string): Promise<void> {
  await connection.write(new TextEncoder().encode(request));
  const buffer = new Uint8Array(4096);
  const read = await connection.read(buffer) ?? 0;
  const answer = new TextDecoder().decode(buffer.subarray(0, read));
  if (!answer.startsWith("HTTP/1.1 201")) throw new Error(`A put was answered with: ${answer}`);
}

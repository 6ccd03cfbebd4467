import { PROJECT_KEY } from "./server.ts";

/**
 * Announces a body, sends only its beginning, and says that no more will come. Waits until the
 * server has hung up, so that it has certainly seen the end.
 */
export async function sendTooLittle(
  port: number,
  target: string,
  announced: number,
  sent: Uint8Array,
): Promise<void> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const head = [
    `POST ${target} HTTP/1.1`,
    "Host: localhost",
    `X-Api-Key: ${PROJECT_KEY}`,
    `Content-Length: ${announced}`,
    "",
    "",
  ].join("\r\n");
  await writeAll(connection, new TextEncoder().encode(head));
  await writeAll(connection, sent);
  await connection.closeWrite();
  await readToEnd(connection);
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

async function readToEnd(connection: Deno.TcpConn): Promise<void> {
  const buffer = new Uint8Array(65_536);
  try {
    while (await connection.read(buffer) !== null);
  } catch (error) {
    // A server may also reset a connection whose body it never read.
    if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
  }
}

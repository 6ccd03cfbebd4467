import { closeQuietly } from "../connection.ts";

/**
 * Begins TLS on a connection to another server.
 *
 * @param name The host that its certificate must have, as `URL` has it.
 * @param signal Closes the connection when it is aborted before the handshake is complete.
 */
export async function secureClient(
  plain: Deno.TcpConn,
  name: string,
  signal: AbortSignal,
): Promise<Deno.TlsConn> {
  const hostname = name.replace(/^\[|\]$/g, "");
  const transport = await Deno.startTls(plain, { hostname, alpnProtocols: ["http/1.1"] });
  const abort = () => closeQuietly(transport);
  signal.addEventListener("abort", abort);
  try {
    signal.throwIfAborted();
    await transport.handshake();
    signal.throwIfAborted();
    return transport;
  } catch (error) {
    closeQuietly(transport);
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

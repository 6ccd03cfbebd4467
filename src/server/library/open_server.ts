import type { OpenServer, OpenServerOptions } from "./library.ts";

/**
 * Opens a server within this program, without a socket, a signal handler or output. Everything that it needs is loaded
 * only now.
 *
 * @throws {TypeError} if an option is not valid.
 * @throws {Error} if the store cannot be opened. Its message says why.
 *
 * @example
 * ```ts no-check
 * import { openServer } from "@kvdrive/kvdrive";
 *
 * const server = await openServer({ data: "./data", adminToken, projectKey });
 * Deno.serve(server.fetch);
 * ```
 */
export async function openServer(options: OpenServerOptions): Promise<OpenServer> {
  const { EmbeddedServer } = await import("./embedded_server.ts");
  return await EmbeddedServer.open(options);
}

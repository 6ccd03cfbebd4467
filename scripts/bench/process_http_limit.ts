/**
 * A process that answers every request with the same bytes from memory: what an HTTP server on Deno can do at the most.
 *
 * @module
 */

import { randomBytes } from "./server.ts";

/** Older runtimes have no such option. */
const QUIET = { automaticCompression: false };

if (import.meta.main) {
  const size = Number(Deno.args[0]);
  const bytes = randomBytes(size);
  const headers = { "Content-Type": "application/octet-stream" };
  Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    ...QUIET,
    onListen: ({ port }) => {
      const line = `listening on http://127.0.0.1:${port}\n`;
      Deno.stdout.writeSync(new TextEncoder().encode(line));
    },
  }, () => new Response(bytes, { headers }));
}

/**
 * A process that answers as a small web application does: with a page of some 1500 bytes that it makes for each request.
 *
 * @module
 */

/** Entries on a page. */
const ENTRIES = 20;

function page(): string {
  const now = Date.now();
  const entries = Array.from({ length: ENTRIES }, (_, id) => {
    return { id, name: `entry ${id}`, changed: now - id, text: "some words about it" };
  });
  return JSON.stringify({ entries });
}

/** Older runtimes have no such option. */
const QUIET = { automaticCompression: false };

if (import.meta.main) {
  Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    ...QUIET,
    onListen: ({ port }) => {
      const line = `listening on http://127.0.0.1:${port}\n`;
      Deno.stdout.writeSync(new TextEncoder().encode(line));
    },
  }, () => new Response(page(), { headers: { "Content-Type": "application/json" } }));
}

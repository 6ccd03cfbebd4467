const encoder = new TextEncoder();

/** An answer in JSON. It is about one moment and one key's project, so nothing on the way may keep it. */
export function json(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): Response {
  const body = encoder.encode(JSON.stringify(value));
  return new Response(body, {
    status,
    headers: {
      "Content-Type": "application/json",
      "Content-Length": String(body.byteLength),
      "Cache-Control": "no-store",
      ...headers,
    },
  });
}

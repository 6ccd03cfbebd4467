const encoder = new TextEncoder();

/** An answer in JSON. It is about one moment and one key's project, so nothing on the way may keep it. */
export function json(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): Response {
  const body = encodeJson(value);
  return jsonResponse(status, body, body.byteLength, headers);
}

/** A value as JSON in UTF-8. */
export function encodeJson(value: unknown): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify(value));
}

/** An answer in JSON from its bytes. */
export function jsonResponse(
  status: number,
  body: BodyInit | null,
  length: number,
  headers: Record<string, string> = {},
): Response {
  return new Response(body, {
    status,
    headers: {
      "Content-Type": "application/json",
      "Content-Length": String(length),
      "Cache-Control": "no-store",
      ...headers,
    },
  });
}

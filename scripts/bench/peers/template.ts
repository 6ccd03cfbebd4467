import { assert } from "../server.ts";

/** A request that is sent many times. `{n}` in its target stands for the name of a file. */
export interface Template {
  method: "GET" | "POST" | "PUT";
  target: string;
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array<ArrayBuffer>;
}

/** Digits of a name, so that all requests of a template have the same length. */
export const NAME_DIGITS = 10;

/** The name of the file with that number. */
export function nameOf(number: number): string {
  return String(number).padStart(NAME_DIGITS, "0");
}

const NAME = "{n}";

const encoder = new TextEncoder();

/** The bytes of an HTTP/1.1 request before and after the name. There are none after it where the template has no name. */
export function rawRequest(
  origin: string,
  { method, target, headers, body }: Template,
): { before: Uint8Array<ArrayBuffer>; after: Uint8Array<ArrayBuffer> } {
  const length = body === undefined ? {} : { "Content-Length": String(body.byteLength) };
  const fields = Object.entries({ Host: new URL(origin).host, ...headers, ...length });
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...fields.map(([name, value]) => `${name}: ${value}`),
  ];
  const head = `${lines.join("\r\n")}\r\n\r\n`;
  const at = head.indexOf(NAME);
  const [before, after] = at === -1
    ? [head, ""]
    : [head.slice(0, at), head.slice(at + NAME.length)];
  const bytes = body ?? new Uint8Array();
  if (at === -1) return { before: joined(before, bytes), after: new Uint8Array() };
  return { before: encoder.encode(before), after: joined(after, bytes) };
}

function joined(head: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = encoder.encode(head);
  const bytes = new Uint8Array(start.byteLength + body.byteLength);
  bytes.set(start);
  bytes.set(body, start.byteLength);
  return bytes;
}

/** Sends a request once. @returns the answer and its body. @throws unless its status is one of success. */
export async function sendOnce(
  origin: string,
  { method, target, headers, body }: Template,
  name: string,
): Promise<{ headers: Headers; bytes: Uint8Array<ArrayBuffer> }> {
  const url = origin + target.replace(NAME, name);
  const response = await fetch(url, {
    method,
    headers: { ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const bytes = await response.bytes();
  const text = (): string => new TextDecoder().decode(bytes.subarray(0, 500));
  assert(response.ok, `${method} ${url} answered ${response.status}: ${text()}`);
  return { headers: response.headers, bytes };
}

import { type Message, numbered } from "../load.ts";
import { assert } from "../server.ts";

export type { Message as Template } from "../load.ts";

/** The name of the file with that number, as `{n}` in targets. */
export function nameOf(number: number): string {
  return numbered("{n}", number);
}

/** Sends a request once. Returns the body of the answer. @throws unless its status is one of success. */
export async function sendOnce(
  origin: string,
  { method, target, headers = {}, body }: Message,
  name: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const url = origin + target.replace("{n}", name);
  const sent = typeof body === "number" ? new Uint8Array(body) : body ?? null;
  const response = await fetch(url, { method, headers: { ...headers }, body: sent });
  const bytes = await response.bytes();
  const text = (): string => new TextDecoder().decode(bytes.subarray(0, 500));
  assert(response.ok, `${method} ${url} answered ${response.status}: ${text()}`);
  return bytes;
}

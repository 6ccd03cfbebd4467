import { scriptFlags, startListening } from "./process.ts";
import type { Scope } from "./scope.ts";

/** Starts a server that answers so many bytes from memory; gives its address. */
export async function startHttpLimit(scope: Scope, size: number): Promise<string> {
  const file = new URL("process_http_limit.ts", import.meta.url).pathname;
  const { origin } = await startListening(scope, {
    args: ["run", ...scriptFlags(), file, String(size)],
  });
  const response = await fetch(origin);
  const answered = (await response.bytes()).byteLength;
  if (response.status === 200 && answered === size) return origin;
  throw new Error(`The limit answered ${response.status} with ${answered} bytes`);
}

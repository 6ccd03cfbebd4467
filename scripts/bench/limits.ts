import { join } from "@std/path/join";
import type { HttpLimitInput } from "./process_http_limit.ts";
import type { KvLimitInput } from "./process_kv_limit.ts";
import { runScript, type Scope, scriptFlags, startListening } from "./scope.ts";
import { byteFileOf } from "./server.ts";
import type { TlsFiles } from "./tls_files.ts";

/** Starts a server that answers with that many bytes from memory, over TLS if there is a certificate. @returns its address. */
export async function startHttpLimit(scope: Scope, size: number, tls?: TlsFiles): Promise<string> {
  const file = new URL("process_http_limit.ts", import.meta.url).pathname;
  const input: HttpLimitInput = {
    size,
    ...(tls === undefined ? {} : { tls: { cert: tls.pem.certificate, key: tls.pem.key } }),
  };
  const { origin } = await startListening(scope, {
    args: ["run", ...scriptFlags(), file, JSON.stringify(input)],
  });
  using client = Deno.createHttpClient(tls === undefined ? {} : { caCerts: [tls.pem.authority] });
  const response = await fetch(origin, { client });
  const answered = (await response.bytes()).byteLength;
  if (response.status === 200 && answered === size) return origin;
  throw new Error(`The limit answered ${response.status} with ${answered} bytes`);
}

const SMALL = 4096;
const CHUNK = 65_536;

/** Small files a second, in atomic groups of 16. */
export async function smallFilesLimit(scope: Scope): Promise<() => Promise<number>> {
  return await kvLimit(scope, {
    kind: "files",
    size: SMALL,
    together: 16,
    inFlight: 2,
    seconds: 1,
  });
}

/**
 * MB of chunks a second, 12 in an operation and 3 operations on their way, into a file with the same pages as that of
 * the chunks in a data folder.
 */
export async function chunksLimit(scope: Scope, data: string): Promise<() => Promise<number>> {
  const put = await kvLimit(scope, {
    pagesOf: byteFileOf(data),
    kind: "chunks",
    size: CHUNK,
    together: 12,
    inFlight: 3,
    seconds: 2,
  });
  return async () => await put() * CHUNK / 1e6;
}

async function kvLimit(
  scope: Scope,
  input: Omit<KvLimitInput, "path" | "run">,
): Promise<() => Promise<number>> {
  const path = join(await scope.makeFolder(), "limit.db");
  let run = 0;
  return () => runScript<number>(scope, "process_kv_limit.ts", { ...input, path, run: run++ });
}

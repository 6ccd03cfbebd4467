import { failureReason } from "../drive/reason.ts";
import type { ServeOptions } from "./serve_options.ts";
import { UsageError } from "./usage_error.ts";

/** What the server needs to speak https, in PEM. */
export interface TlsFiles {
  cert: string;
  key: string;
}

/** Reads the files of `--tls-cert` and `--tls-key`, if they are given. @throws {UsageError} where they are not what they have to be. */
export async function readTls(
  { tlsCert, tlsKey }: ServeOptions,
): Promise<TlsFiles | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const cert = await readPem("--tls-cert", tlsCert, "CERTIFICATE");
  const key = await readPem("--tls-key", tlsKey, "PRIVATE KEY");
  return { cert, key };
}

async function readPem(option: string, path: string, label: string): Promise<string> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    const reason = failureReason(error);
    throw new UsageError(`Cannot read ${path}, the file of ${option}: ${reason}`, { cause: error });
  }
  if (!text.includes(`${label}-----`)) {
    throw new UsageError(`The file of ${option}, ${path}, holds no ${label.toLowerCase()} in PEM`);
  }
  return text;
}

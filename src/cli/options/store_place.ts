import { UsageError } from "../terminal/output.ts";
import { type OptionValues, variableOf } from "./arguments.ts";

/**
 * Returns the URL of a shared store. `--data` takes precedence over the variable KVDRIVE_KV.
 *
 * @throws {UsageError} if it is invalid. The value is not repeated: it may hold a secret.
 */
export function kvOf(values: OptionValues): string | undefined {
  const isFolderWanted = values.get("data")?.source === "--data";
  const kv = values.get("kv");
  if (kv === undefined || (isFolderWanted && kv.source === variableOf("kv"))) return undefined;
  const { text, source } = kv;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && ["http:", "https:"].includes(url.protocol) &&
    url.username === "" && url.password === "";
  if (isPlain) return text;
  throw new UsageError(
    `Bad value of ${source}: it must be a URL like https://kv.example.com, without a user or password`,
  );
}

import { CannotBackUp, StoreDamaged, StoreFull, StoreUnavailable } from "../store/errors.ts";

const encoder = new TextEncoder();

/** Writes to standard output, at once. */
export function print(text: string): void {
  writeAll(Deno.stdout, text);
}

/** Writes to standard error, at once. */
export function printError(text: string): void {
  writeAll(Deno.stderr, text);
}

function writeAll(file: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = encoder.encode(text);
  while (rest.byteLength > 0) rest = rest.subarray(file.writeSync(rest));
}

/** Tells the operator of a failure in one entry, with the request that met it. */
export function logFailure(error: unknown, requestId?: string): void {
  const request = requestId === undefined ? "" : ` request ${requestId}`;
  printError(`${new Date().toISOString()} error${request}: ${describe(error)}\n`);
}

/** What the store could not do is a sentence; of a defect the whole stack helps. */
function describe(error: unknown): string {
  const expected = error instanceof StoreUnavailable || error instanceof StoreFull ||
    error instanceof StoreDamaged || error instanceof CannotBackUp;
  return expected ? error.message : Deno.inspect(error, { colors: false });
}

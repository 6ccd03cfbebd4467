const encoder = new TextEncoder();

/** Writes to standard output, at once. */
export function print(text: string): void {
  let rest = encoder.encode(text);
  while (rest.byteLength > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}

/** Names the file that says what was judged: `scripts/openapi_report.ts` reads it. */
const FILE = "KVDRIVE_TALLY";

/** Notes that one answer was judged. */
export function tally(pair: string): void {
  const file = Deno.env.get(FILE);
  if (file !== undefined) Deno.writeTextFileSync(file, `${pair}\n`, { append: true });
}

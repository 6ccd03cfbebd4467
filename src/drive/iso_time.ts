/** A time (milliseconds since 1970) as "UTC with seconds": `2021-04-22T11:50:08Z`. */
export function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, "2021-04-22T11:50:08".length)}Z`;
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The longest time that a timer of the runtime can wait, in milliseconds. */
const MAX_DURATION = 2 ** 31 - 1;

/**
 * Milliseconds of a time such as `500ms`, `10s`, `30m`, `24h` or `7d`; a bare number is seconds. `undefined` if it is none.
 *
 * @param max The longest time, in milliseconds.
 */
export function parseDuration(text: string, max = MAX_DURATION): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim());
  if (match === null) return undefined;
  const milliseconds = Math.round(Number(match[1]) * (UNITS[match[2] ?? "s"] ?? 0));
  return milliseconds >= 1 && milliseconds <= max ? milliseconds : undefined;
}

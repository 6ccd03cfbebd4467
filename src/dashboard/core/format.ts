/** Texts for people: sizes, times, counts. */

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];
// Formatters are made once: `toLocaleString` makes one for each call.
const NUMBER = new Intl.NumberFormat("en");
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const TENTHS = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** Returns a size such as "3.4 MB", in powers of 1000 like the command line. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 999.5 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  const format = unit === 0 || value >= 99.95 ? WHOLE : TENTHS;
  return `${format.format(value)} ${UNITS[unit]}`;
}

/** Returns a count with its noun: "1 file", "1,204 files". */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatNumber(count)} ${count === 1 ? noun : nouns}`;
}

export function formatNumber(value: number): string {
  return NUMBER.format(value);
}

const DAY_FORMAT = { day: "numeric", month: "short", year: "numeric" } as const;
const DATE = new Intl.DateTimeFormat("en", DAY_FORMAT);
const UTC_DATE = new Intl.DateTimeFormat("en", { ...DAY_FORMAT, timeZone: "UTC" });
const TIME = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });

/** Returns a day such as "Nov 22, 2026"; `"—"` for no time. */
export function formatDate(time: string | number | null | undefined): string {
  return time === null || time === undefined ? "—" : DATE.format(new Date(time));
}

/** Returns a day of UTC, such as "2026-11-22", like `formatDate`. Elsewhere its first moment may be of another day. */
export function formatUtcDay(day: string): string {
  return UTC_DATE.format(new Date(day));
}

/** Returns a moment such as "Nov 22, 2026, 14:05". */
export function formatTime(time: string | number | null | undefined): string {
  if (time === null || time === undefined) return "—";
  const date = new Date(time);
  return `${DATE.format(date)}, ${TIME.format(date)}`;
}

/** Returns a moment with its distance, such as "3 minutes ago (Nov 22, 2026, 14:05)". */
export function formatMoment(time: string | number): string {
  const [distance, moment] = [formatRelative(time), formatTime(time)];
  return moment.startsWith(distance) ? moment : `${distance} (${moment})`;
}

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns a moment near now such as "3 minutes ago" or "in 2 days"; a date if it is more than a month away. */
export function formatRelative(
  time: string | number | null | undefined,
  now: number = Date.now(),
): string {
  if (time === null || time === undefined) return "Never";
  const seconds = (new Date(time).getTime() - now) / 1000;
  const distance = Math.abs(seconds);
  if (distance < 45) return "just now";
  if (distance < 45 * MINUTE) return RELATIVE.format(Math.round(seconds / MINUTE), "minute");
  if (distance < 22 * HOUR) return RELATIVE.format(Math.round(seconds / HOUR), "hour");
  if (distance < 30 * DAY) return RELATIVE.format(Math.round(seconds / DAY), "day");
  return formatDate(time);
}

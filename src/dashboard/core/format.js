/**
 * Numbers and times for display, in English notation like all texts of the page.
 *
 * @module
 */

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];
const COUNT = new Intl.NumberFormat("en");
const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const AGO = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** @type {[Intl.RelativeTimeFormatUnit, number][]} Seconds each. */
const SPANS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** `1.4 MB`, in powers of 1000. @param {number} bytes @returns {string} */
export function formatBytes(bytes) {
  let value = bytes;
  let unit = 0;
  // A value that rounds to 1000 goes to the next unit.
  while (value >= (unit === 0 ? 1000 : 999.5) && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** `12,345`. @param {number} count @returns {string} */
export function formatCount(count) {
  return COUNT.format(count);
}

/**
 * `1 file`, `2 files`.
 *
 * @param {number} count @param {string} one @param {string} [many]
 * @returns {string}
 */
export function formatNumber(count, one, many = `${one}s`) {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** `21 Nov 2026, 14:05`, in the browser's time zone. @param {string | number | Date} time @returns {string} */
export function formatTime(time) {
  return TIME.format(new Date(time));
}

/** `3 minutes ago`. @param {string | number | Date} time @param {number} [now] @returns {string} */
export function formatAge(time, now = Date.now()) {
  const seconds = Math.round((new Date(time).getTime() - now) / 1000);
  for (const [unit, length] of SPANS) {
    if (Math.abs(seconds) >= length) return AGO.format(Math.trunc(seconds / length), unit);
  }
  return seconds > 0 ? "in less than a minute" : "just now";
}

/** `1 h 5 min`, `3 min 20 s`, `8 s`. @param {number} seconds @returns {string} */
export function formatDuration(seconds) {
  if (!Number.isFinite(seconds)) return "unknown";
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

/** `1.4 MB/s`. @param {number} bytesPerSecond @returns {string} */
export function formatSpeed(bytesPerSecond) {
  return `${formatBytes(Math.max(0, Math.round(bytesPerSecond)))}/s`;
}

/** `12%`, `0.4%`. @param {number} part @param {number} whole @returns {string} */
export function formatShare(part, whole) {
  if (part <= 0 || whole <= 0) return "0%";
  const percent = part / whole * 100;
  if (percent < 0.1) return "under 0.1%";
  return `${percent < 10 ? Number(percent.toFixed(1)) : Math.round(percent)}%`;
}

/**
 * Dates as HTTP and JSON write them.
 *
 * @module
 */

const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";
const DAY_NAME = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const LONG_DAY_NAME = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day";
const TIME_OF_DAY = "(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})";

/**
 * The three forms of RFC 9110, 5.6.7: IMF-fixdate, and the obsolete RFC 850 and asctime, which a server must accept.
 */
const HTTP_DATES = [
  new RegExp(`^${DAY_NAME}, (?<day>\\d{2}) (?<month>\\w{3}) (?<year>\\d{4}) ${TIME_OF_DAY} GMT$`),
  new RegExp(
    `^${LONG_DAY_NAME}, (?<day>\\d{2})-(?<month>\\w{3})-(?<year>\\d{2}) ${TIME_OF_DAY} GMT$`,
  ),
  new RegExp(`^${DAY_NAME} (?<month>\\w{3}) (?<day>[ \\d]\\d) ${TIME_OF_DAY} (?<year>\\d{4})$`),
];

/**
 * Parses an HTTP date, such as `Sun, 06 Nov 1994 08:49:37 GMT`. `Date.parse` is no substitute: it also accepts local
 * times, other formats and 31 February.
 *
 * @returns Seconds since 1970, or `undefined` if the text has none of the three forms or names a time that does not
 * exist.
 */
export function parseHttpDate(text: string): number | undefined {
  for (const form of HTTP_DATES) {
    const fields = form.exec(text)?.groups;
    if (fields !== undefined) return secondsOf(fields);
  }
  return undefined;
}

function secondsOf(fields: Record<string, string>): number | undefined {
  const { day, month = "", year = "", hour, minute, second } = fields;
  const monthIndex = MONTHS.indexOf(month) / 3;
  if (!Number.isInteger(monthIndex) || monthIndex < 0) return undefined;
  const fullYear = year.length === 2 ? fullYearOf(Number(year)) : Number(year);
  const [days, hours, minutes, seconds] = [day, hour, minute, second].map(Number);
  const time = new Date(Date.UTC(fullYear, monthIndex, days, hours, minutes, seconds));
  // `Date.UTC` turns 31 February into 3 March, and 25 o'clock into 1 o'clock of the next day.
  const isReal = time.getUTCDate() === days && time.getUTCHours() === hours &&
    time.getUTCMinutes() === minutes && time.getUTCSeconds() === seconds;
  return isReal ? time.getTime() / 1000 : undefined;
}

/**
 * "Recipients of a timestamp value in rfc850-date format, which uses a two-digit year, MUST interpret a timestamp that
 * appears to be more than 50 years in the future as representing the most recent year in the past that had the same
 * last two digits" (RFC 9110, 5.6.7).
 */
function fullYearOf(lastTwoDigits: number): number {
  const now = new Date().getUTCFullYear();
  const inThisCentury = now - now % 100 + lastTwoDigits;
  return inThisCentury > now + 50 ? inThisCentury - 100 : inThisCentury;
}

/** `2021-04-22T11:50:08.123Z` with up to three digits of a second (RFC 3339, 5.6, which allows small letters). */
const UTC_TIME = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?[Zz]$/;

/**
 * Parses a UTC time of RFC 3339, to milliseconds.
 *
 * @returns Milliseconds since 1970, or `undefined` if the text has another form or names a time that does not exist.
 */
export function parseUtcTime(text: string): number | undefined {
  const [, day, time, fraction = ""] = UTC_TIME.exec(text) ?? [];
  if (day === undefined) return undefined;
  const normal = `${day}T${time}.${fraction.padEnd(3, "0")}Z`;
  const parsed = Date.parse(normal);
  // `Date.parse` turns 31 February into 3 March.
  return utcTime(parsed) === normal ? parsed : undefined;
}

/**
 * Formats a time as `parseUtcTime` reads it; `undefined` if it is not in the years 0 to 9999.
 *
 * @param time Milliseconds since 1970.
 */
export function utcTime(time: number): string | undefined {
  const date = new Date(time);
  const text = Number.isNaN(date.getTime()) ? "" : date.toISOString();
  return UTC_TIME.test(text) ? text : undefined;
}

/**
 * Formats a time as "UTC with seconds" (docs/contract.md, Applications): `2021-04-22T11:50:08Z`. Milliseconds are cut off.
 *
 * @param time Milliseconds since 1970.
 */
export function isoSeconds(time: number): string {
  return `${new Date(time).toISOString().slice(0, "2021-04-22T11:50:08".length)}Z`;
}

/** Formats a deadline in the same form, rounded up: what ends at the deadline has ended at the time that is shown. */
export function isoDeadline(time: number): string {
  return isoSeconds(Math.ceil(time / 1000) * 1000);
}

const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";
const DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const LONG_DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day";
const TIME = "(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})";

/** The three forms of RFC 9110, 5.6.7; two of them are old, and to be understood all the same. */
const FORMS = [
  new RegExp(`^${DAY}, (?<day>\\d{2}) (?<month>\\w{3}) (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY}, (?<day>\\d{2})-(?<month>\\w{3})-(?<year>\\d{2}) ${TIME} GMT$`),
  new RegExp(`^${DAY} (?<month>\\w{3}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/** The seconds since 1970 of an HTTP date; `undefined` if the text is none. */
export function parseHttpDate(text: string): number | undefined {
  for (const form of FORMS) {
    const fields = form.exec(text)?.groups;
    if (fields !== undefined) return secondsOf(fields);
  }
  return undefined;
}

function secondsOf(fields: Record<string, string>): number | undefined {
  const { day, month = "", year = "", hour, minute, second } = fields;
  const monthIndex = MONTHS.indexOf(month) / 3;
  if (!Number.isInteger(monthIndex) || monthIndex < 0) return undefined;
  const fullYear = year.length === 2 ? centuryOf(Number(year)) : Number(year);
  const [days, hours, minutes, seconds] = [day, hour, minute, second].map(Number);
  const time = new Date(Date.UTC(fullYear, monthIndex, days, hours, minutes, seconds));
  // What does not exist, such as 31 February or 25 o'clock, would become another date.
  const isReal = time.getUTCDate() === days && time.getUTCHours() === hours &&
    time.getUTCMinutes() === minutes && time.getUTCSeconds() === seconds;
  return isReal ? time.getTime() / 1000 : undefined;
}

/** "a timestamp that appears to be more than 50 years in the future" is one of the century before. */
function centuryOf(year: number): number {
  const now = new Date().getUTCFullYear();
  const inThisCentury = now - now % 100 + year;
  return inThisCentury > now + 50 ? inThisCentury - 100 : inThisCentury;
}

/** A time (milliseconds since 1970) as "UTC with seconds": `2021-04-22T11:50:08Z`. */
export function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, "2021-04-22T11:50:08".length)}Z`;
}

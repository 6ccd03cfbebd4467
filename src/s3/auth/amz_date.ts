import { parseHttpDate, utcTime } from "../../rules/dates.ts";

/** A time as signatures contain it. */
export interface AmzDate {
  /** `20130524T000000Z`. */
  text: string;
  /** Milliseconds since 1970. */
  time: number;
}

const BASIC_FORM = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Parses a time in the basic form of ISO 8601, `20130524T000000Z`; `undefined` for any other text. */
export function parseAmzDate(text: string): AmzDate | undefined {
  if (!BASIC_FORM.test(text)) return undefined;
  const normal = text.replace(BASIC_FORM, "$1-$2-$3T$4:$5:$6.000Z");
  const time = Date.parse(normal);
  // `Date.parse` turns 31 February into 3 March.
  return utcTime(time) === normal ? { text, time } : undefined;
}

/** Parses the header `Date`, in the form of HTTP or in the one above; `undefined` if it has neither. */
export function parseDateHeader(value: string): AmzDate | undefined {
  const seconds = parseHttpDate(value);
  if (seconds === undefined) return parseAmzDate(value);
  return { text: amzDate(seconds * 1000), time: seconds * 1000 };
}

/** Formats a time in milliseconds since 1970. */
export function amzDate(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, "");
}

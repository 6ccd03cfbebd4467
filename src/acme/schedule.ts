/**
 * When a certificate is renewed, and when a failed attempt is repeated. All times are in milliseconds.
 *
 * @module
 */
import { DAY, HOUR, MINUTE, SECOND } from "../rules/units.ts";

/** When a certificate is valid, in milliseconds since 1970. */
export interface Validity {
  notBefore: number;
  notAfter: number;
}

/** A certificate is renewed after this share of its lifetime. */
const RENEWAL_SHARE = 2 / 3;

/** An authority can suggest no earlier time than after this share, which bounds the orders that an error of it causes. */
const LEAST_SHARE = 1 / 100;

/** The first delay after a failure. It is doubled with each further one, up to the longest. */
const FIRST_DELAY = 4 * SECOND;
const MAX_DELAY = HOUR;

/** Up to this share is added to a delay, so that servers do not all ask at the same time. */
const JITTER = 0.2;

/** The longest pause that an authority can ask for. */
export const MAX_PAUSE = 7 * DAY;

/** The time between two questions about the renewal, unless the authority says another, and its bounds. */
const WINDOW_INTERVAL = 6 * HOUR;
const MIN_WINDOW_INTERVAL = MINUTE;
const MAX_WINDOW_INTERVAL = DAY;

/** When a certificate is renewed unless the authority suggests an earlier time. */
export function renewalTime({ notBefore, notAfter }: Validity): number {
  return notBefore + (notAfter - notBefore) * RENEWAL_SHARE;
}

/**
 * When a certificate is renewed for which the authority suggests a time: earlier than otherwise, if at all.
 *
 * @param suggested Milliseconds since 1970.
 */
export function suggestedTime(validity: Validity, suggested: number): number {
  const { notBefore, notAfter } = validity;
  const least = notBefore + (notAfter - notBefore) * LEAST_SHARE;
  return Math.min(Math.max(suggested, least), renewalTime(validity));
}

/** The delay before the next attempt, after a number of failures in a row. */
export function retryDelay(failures: number, random: number = Math.random()): number {
  const delay = FIRST_DELAY * 2 ** (failures - 1);
  return Math.min(delay * (1 + JITTER * random), MAX_DELAY);
}

/**
 * The pause after a certificate that has to be renewed the moment it is issued, which means that the clock of this
 * machine is wrong.
 */
export function clockPause({ notBefore, notAfter }: Validity): number {
  return Math.min((notAfter - notBefore) / 3, DAY);
}

/** When to ask the authority again for the time of renewal. Short-lived certificates allow shorter intervals. */
export function windowInterval({ notBefore, notAfter }: Validity, retryAfter?: number): number {
  const least = Math.min(MIN_WINDOW_INTERVAL, (notAfter - notBefore) / 10);
  return Math.min(Math.max(retryAfter ?? WINDOW_INTERVAL, least), MAX_WINDOW_INTERVAL);
}

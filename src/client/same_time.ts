const SECOND = 1000;

/** What is lost where a time is a fraction of a second. */
const ROUNDING = 2;

/**
 * Whether a file of this machine has the time of one in a drive, in milliseconds since 1970. Some file systems, and the
 * dates of HTTP, know whole seconds only.
 */
export function isSameTime(here: number, there: number): boolean {
  if (Math.abs(here - there) < ROUNDING) return true;
  const isCoarse = here % SECOND === 0 || there % SECOND === 0;
  return isCoarse && Math.floor(here / SECOND) === Math.floor(there / SECOND);
}

/** The most days that the trash may keep files. */
export const MAX_TRASH_DAYS = 365;

/** Returns the days of a text, 0 for no trash; `undefined` if it is no such number. */
export function parseDays(text: string): number | undefined {
  const days = /^\d{1,3}$/.test(text.trim()) ? Number(text) : Infinity;
  return days <= MAX_TRASH_DAYS ? days : undefined;
}

const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
};

/** The largest limit: what JSON numbers can express exactly. */
const MAX_BYTES = Number.MAX_SAFE_INTEGER;

/** Returns the bytes of a text such as "10 GB"; `null` for no limit, `undefined` if it is no size. */
export function parseSize(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const [, number = "", unit = "b"] =
    /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?b)?\s*$/i.exec(text.replaceAll(",", "")) ?? [];
  const bytes = Math.round(Number(number || "x") * (UNITS[unit.toLowerCase()] ?? 1));
  return Number.isFinite(bytes) && bytes <= MAX_BYTES ? bytes : undefined;
}

/** Returns a size as it is entered: exact, in the largest unit without a fraction. */
export function sizeText(bytes: number | null): string {
  if (bytes === null) return "";
  const [unit = "b", size = 1] =
    Object.entries(UNITS).findLast(([, size]) => bytes >= size && bytes % size === 0) ?? [];
  return `${bytes / size} ${unit === "kb" ? "kB" : unit.toUpperCase()}`;
}

/** The attributes of a field for a limit of bytes. */
export const SIZE_FIELD = {
  hint: "Such as 500 MB, 10 GB or 1 TB. Empty for no limit.",
  placeholder: "No limit",
};

/** The most days that the trash may keep files. */
export const MAX_TRASH_DAYS = 365;

/** Returns the days of a text, 0 for no trash; `undefined` if it is no such number. */
export function parseDays(text: string): number | undefined {
  const days = /^\d{1,3}$/.test(text.trim()) ? Number(text) : Infinity;
  return days <= MAX_TRASH_DAYS ? days : undefined;
}

/** What is wrong with a text that is no size. */
export const NO_SIZE = "Enter a size such as 10 GB, or nothing";

import { TextField } from "../ui/field.tsx";

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

/** Returns what is wrong with an entered size. */
export function sizeProblem(text: string): string | undefined {
  return parseSize(text) === undefined ? "Enter a size such as 10 GB, or nothing" : undefined;
}

/** A field for a limit of bytes. */
export function SizeField({ label, value, problem, onInput }: {
  label: string;
  value: string;
  /** What else is wrong with the value than its form. */
  problem?: string | undefined;
  onInput: (value: string) => void;
}) {
  return (
    <TextField
      label={label}
      hint="Such as 500 MB, 10 GB or 1 TB. Empty for no limit."
      placeholder="No limit"
      value={value}
      problem={sizeProblem(value) ?? problem}
      onInput={onInput}
    />
  );
}

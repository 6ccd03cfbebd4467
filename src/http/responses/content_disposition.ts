/** Characters that may stand for themselves in `filename*` (RFC 8187, 3.2.1), besides letters and digits. */
const ATTRIBUTE_CHARACTERS = /[^A-Za-z0-9!#$&+.^_`|~-]/gu;

/** Most names, which stand for themselves in both forms. */
const SIMPLE = /^[A-Za-z0-9._-]*$/;

/** Not allowed in the fallback: quotes, what begins an escape, and everything beyond printable ASCII. */
const NOT_IN_FALLBACK = /[^ -~]|["\\%]/gu;

const encoder = new TextEncoder();

/**
 * Returns the value of `Content-Disposition` for a file (RFC 6266): its name in ASCII for old programs, and whole in
 * `filename*`.
 */
export function contentDisposition(type: "attachment" | "inline", filename: string): string {
  if (SIMPLE.test(filename)) return `${type}; filename="${filename}"; filename*=UTF-8''${filename}`;
  const fallback = filename.replaceAll(NOT_IN_FALLBACK, "_");
  const whole = filename.replaceAll(ATTRIBUTE_CHARACTERS, encodeCharacter);
  return `${type}; filename="${fallback}"; filename*=UTF-8''${whole}`;
}

function encodeCharacter(character: string): string {
  const bytes = encoder.encode(character);
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(
    "",
  );
}

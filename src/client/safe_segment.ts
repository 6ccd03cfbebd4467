import { MAX_SEGMENT } from "../drive/limits.ts";
import { byteLength } from "../drive/names.ts";
import { nameFor } from "./digest.ts";

/** What a file system takes. `windows` takes less than the others. */
export type FileSystem = "posix" | "windows";

/** What stands for a segment without characters. */
const EMPTY = "%";

/** Devices of Windows, whatever stands behind a dot. */
const DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)/i;

/** Room for what tells a segment that is cut, or taken, from others. */
const KEPT_BYTES = MAX_SEGMENT - 48;

/**
 * One segment of a name as a file system can hold it: what it cannot hold is written as `%` and two hexadecimal digits
 * for each byte, and what is too long is cut and ends with a digest. Everything else stays as it is, `%` too.
 */
export function safeSegment(segment: string, system: FileSystem): string {
  if (segment === "") return EMPTY;
  if (segment === "." || segment === "..") return segment.replaceAll(".", "%2E");
  // Others would take them for a line's end, and a backslash for a slash.
  let safe = segment.replaceAll(/[\p{Cc}\\]/gu, escaped);
  if (system === "windows") {
    safe = safe.replaceAll(/[<>:"|?*]/g, escaped).replace(/[. ]$/, escaped);
    if (DEVICE.test(safe)) safe = escaped(safe.charAt(0)) + safe.slice(1);
  }
  return byteLength(safe) <= MAX_SEGMENT ? safe : `${cut(safe)}%${nameFor(segment)}`;
}

/** The same segment again, for a file system in which that is taken. */
export function otherSegment(safe: string, tries: number): string {
  const end = `%${tries}`;
  return byteLength(safe) + end.length <= MAX_SEGMENT
    ? safe + end
    : cut(safe) + `%${nameFor(safe)}` + end;
}

function escaped(character: string): string {
  const bytes = new TextEncoder().encode(character);
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(
    "",
  );
}

/** As many whole characters as fit. */
function cut(text: string): string {
  let bytes = 0;
  let kept = "";
  for (const character of text) {
    bytes += byteLength(character);
    if (bytes > KEPT_BYTES) break;
    kept += character;
  }
  return kept;
}

/** Folders that the runtime opens no files in, unless it was started with all rights. */
const SYSTEM_FOLDERS = /^\/(proc|sys|dev|etc)(?=\/|$)/;

/**
 * What went wrong in a call of the system, as the end of a sentence such as "Cannot read a.txt: …". The runtime's own
 * messages also have the call, its path, a number, and advice for programmers.
 */
export function failureReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, wanted, path = ""] = /^Requires (\w+) access to (.+?)(?:, run again .*)?$/s
    .exec(message) ?? [];
  if (wanted !== undefined) {
    const [folder] = SYSTEM_FOLDERS.exec(path.replaceAll('"', "")) ?? [];
    return folder === undefined
      ? `kvdrive was started without the right to ${wanted} ${path}`
      : `${folder} is no place for files: name one outside of it`;
  }
  return message
    .replace(/^E[A-Z]{2,}: (.)/, (_, first: string) => first.toUpperCase())
    .replace(/ \(os error \d+\)/, "")
    // Deno puts a colon before the call, and its modules for Node.js a comma.
    .replace(/(: |, )[a-z]+ '[^]*'$/, "");
}

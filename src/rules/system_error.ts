/** Folders in which the runtime opens no file without all permissions. */
const SYSTEM_FOLDERS = /^\/(proc|sys|dev|etc)(?=\/|$)/;

/** The runtime's message for a missing permission: the permission and the path. */
const MISSING_PERMISSION = /^Requires (\w+) access to (.+?)(?:, run again .*)?$/s;

/**
 * Returns why a system call failed, as the end of a sentence such as "Cannot read a.txt: …". It is the runtime's
 * message without the call, its path, the error number and the advice for programmers.
 */
export function failureReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, permission, path = ""] = MISSING_PERMISSION.exec(message) ?? [];
  if (permission !== undefined) {
    const [folder] = SYSTEM_FOLDERS.exec(path.replaceAll('"', "")) ?? [];
    return folder === undefined
      ? `kvdrive was started without permission to ${permission} ${path}`
      : `${folder} cannot hold files: choose another folder`;
  }
  return message
    .replace(/^E[A-Z]{2,}: (.)/, (_, first: string) => first.toUpperCase())
    .replace(/ \(os error \d+\)/, "")
    // Deno puts a colon before the call, and its Node.js modules a comma.
    .replace(/(: |, )[a-z]+ '[^]*'$/, "");
}

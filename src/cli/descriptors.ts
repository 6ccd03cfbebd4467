import { closeSync, openSync } from "node:fs";

/** Descriptors with which the limit is no concern: all connections, each with one to an application. */
export const WANTED_DESCRIPTORS = 4096;

/** The same under TLS, where each connection takes two more. */
export const WANTED_TLS_DESCRIPTORS = 8192;

/**
 * How many more files and connections the process may open, measured by opening that many; `undefined` where there are at
 * least as many as wanted, or where this cannot be measured. The limit itself is not readable with the program's rights.
 */
export function freeDescriptors(wanted: number): number | undefined {
  if (Deno.build.os === "windows") return undefined;
  const opened: number[] = [];
  try {
    while (opened.length < wanted) opened.push(openSync("/dev/null", "r"));
    return undefined;
  } catch (error) {
    return isTooMany(error) ? opened.length : undefined;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function isTooMany(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    (error.code === "EMFILE" || error.code === "ENFILE");
}

/** What the operator is told at the start. */
export function lowDescriptorsText(free: number, wanted: number): string {
  return `Warning: only ${free} more files and connections can be open at once: ` +
    `raise the limit to ${wanted} or more (ulimit -n, LimitNOFILE of systemd, --ulimit of Docker).`;
}

/** What the operator is told while it happens. */
export function outOfDescriptorsText(): string {
  return `${
    new Date().toISOString()
  } warning: no file descriptors are left, so idle connections are closed: ` +
    "raise the limit (ulimit -n, LimitNOFILE of systemd, --ulimit of Docker).";
}

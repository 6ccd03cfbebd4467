import { PROJECT_KEY } from "./server.ts";

/**
 * An address that nobody has called from. The servers of the tests believe it of this machine, so that wrong keys of
 * one test are not counted with those of another.
 */
export function strangerAddress(): string {
  return `10.${crypto.getRandomValues(new Uint8Array(3)).join(".")}`;
}

/** The header that makes a stranger of whoever sends another key than that of the tests' project. */
export function strangerHeader(key: string | null | undefined): Record<string, string> {
  if (key === undefined || key === null || key === PROJECT_KEY) return {};
  return { "X-Forwarded-For": strangerAddress() };
}

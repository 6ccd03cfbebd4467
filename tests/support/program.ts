import { fromFileUrl } from "@std/path";

/** Where the sources begin, for those who start them in another way. */
export const MAIN = fromFileUrl(new URL("../../main.ts", import.meta.url));

/** An executable that stands for the sources: what `deno task pack` or `deno task compile` makes. */
export const EXECUTABLE = Deno.env.get("KVDRIVE_TEST_PROGRAM");

/**
 * Whether it runs on the oldest Deno, which does not tell the certificate of a server that is none of an authority, nor
 * that a reader has left.
 */
export const IS_OLDEST = Deno.env.has("KVDRIVE_TEST_OLDEST");

/**
 * The words that start the program under test with these arguments. The tests know nothing else of the project.
 *
 * @param runtime The runtime's options, which grant all permissions unless given. An executable has its own inside.
 */
export function programWords(
  args: readonly string[],
  runtime: readonly string[] = ["-A"],
): [string, ...string[]] {
  return EXECUTABLE === undefined
    ? [Deno.execPath(), "run", ...runtime, MAIN, ...args]
    : [EXECUTABLE, ...args];
}

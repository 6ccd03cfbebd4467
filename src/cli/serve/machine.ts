import { delay } from "@std/async/delay";
import { MIB } from "../../rules/units.ts";

/** File descriptors for all connections, each with one to an application. */
export const WANTED_DESCRIPTORS = 4096;

/** The same with TLS, where each connection takes two more. */
export const WANTED_TLS_DESCRIPTORS = 8192;

/**
 * Descriptors that are opened without a pause. A limit below the first number is known before a client is accepted.
 * Linux stops a process for some 15 ms where it enlarges their table.
 */
const OPENED_FIRST = 256;
const OPENED_AT_ONCE = 64;

export interface DescriptorCount {
  /** Called with how many more files and connections can be open at once, if that is less than wanted. */
  onLow: (free: number) => void;
  /** Gets a function that ends the count early and returns whether it held descriptors. */
  onHeld: (release: () => boolean) => void;
}

/**
 * Counts how many more files and connections the process can open, by opening them, unless the limit is known and leaves
 * enough. Other work goes on meanwhile: if that needs a descriptor, there are no more than were counted so far.
 */
export async function countDescriptors(
  wanted: number,
  { onLow, onHeld }: DescriptorCount,
): Promise<void> {
  if (Deno.build.os === "windows" || leavesEnough(wanted)) return;
  const opened: Deno.FsFile[] = [];
  const close = () => {
    for (const file of opened.splice(0)) file.close();
  };
  let isOver = false;
  const end = () => {
    if (isOver) return false;
    isOver = true;
    // Before a connection gets one of the descriptors.
    onLow(opened.length);
    close();
    return true;
  };
  onHeld(end);
  try {
    for (let next = OPENED_FIRST; !isOver && opened.length < wanted; next += OPENED_AT_ONCE) {
      while (opened.length < next) opened.push(Deno.openSync("/dev/null"));
      await delay(0);
    }
  } catch (error) {
    if (isTooMany(error)) end();
  }
  isOver = true;
  close();
}

/** Returns whether the limit leaves enough descriptors. Linux tells it, to a program with all permissions only. */
function leavesEnough(wanted: number): boolean {
  try {
    const limits = Deno.readTextFileSync("/proc/self/limits");
    const opened = Array.from(Deno.readDirSync("/proc/self/fd"));
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1]) - opened.length >= wanted;
  } catch (error) {
    const { NotCapable, NotFound } = Deno.errors;
    if (error instanceof NotCapable || error instanceof NotFound || isTooMany(error)) return false;
    throw error;
  }
}

function isTooMany(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    (error.code === "EMFILE" || error.code === "ENFILE");
}

/** Returns the warning about few descriptors, as a sentence without a period. */
export function lowDescriptorsText(free: number, wanted: number): string {
  return `Only ${free} more files and connections could be open at once when the server started: raise the limit with ` +
    `\`ulimit -n ${
      2 * wanted
    }\`, LimitNOFILE of systemd or --ulimit of Docker, and restart the server`;
}

/** Returns the warning when descriptors run out. */
export function outOfDescriptorsText(): string {
  return `${
    new Date().toISOString()
  } warning: no file descriptors are left, so idle connections are closed: ` +
    "raise the limit (ulimit -n, LimitNOFILE of systemd, --ulimit of Docker).";
}

/** Size of the buffer that is released at the start, in bytes. glibc then keeps twice as many free bytes. */
const RELEASED_BUFFER = 8 * MIB;

/**
 * Makes glibc keep freed memory for the next buffers instead of returning it to the system, which would have to clear it
 * again: that takes longer than reading a chunk of a file. glibc keeps twice the size of the largest buffer that was
 * released so far (mallopt(3), M_TRIM_THRESHOLD). Without glibc this does nothing.
 */
export function keepFreedMemory(): void {
  new ArrayBuffer(RELEASED_BUFFER).transfer(0);
}

/** A command line that cannot be followed. The message is one sentence for the person who typed it; the exit status is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Something that keeps the program from starting. The message is one sentence; the exit status is 1. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** A command that was understood and could not be done. The message is one sentence; the exit status is 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

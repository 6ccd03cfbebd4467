// Errors whose message is one line for the user: "kvdrive: <message>", without a stack trace.

/** A command line that is not valid. Exit status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A server that cannot start. Exit status 1. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** A valid command that failed. Exit status 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

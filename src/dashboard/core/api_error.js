/** A call that was refused or did not arrive. The message is the server's sentence, or one of ours. */
export class ApiError extends Error {
  /**
   * @param {number} status Of HTTP; 0 where there was no answer.
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.name = "ApiError";
    /** Of HTTP; 0 where there was no answer. */
    this.status = status;
  }
}

/** @returns {ApiError} The error for a call without an answer. */
export function unreachable() {
  return new ApiError(0, "The server cannot be reached: check the connection and try again");
}

/**
 * The error that an answer tells.
 *
 * @param {number} status
 * @param {string} text The answer's body.
 * @returns {ApiError}
 */
export function refused(status, text) {
  return new ApiError(status, sentenceIn(text) ?? `The server answered with status ${status}`);
}

/** @param {string} text @returns {string | undefined} */
function sentenceIn(text) {
  try {
    const sentence = JSON.parse(text)?.errors?.[0];
    return typeof sentence === "string" ? sentence : undefined;
  } catch {
    // It came from something between us and the server.
    return undefined;
  }
}

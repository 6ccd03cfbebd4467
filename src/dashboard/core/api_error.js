/** A call that was refused or got no answer. The message is the server's sentence, or one of this page. */
export class ApiError extends Error {
  /**
   * @param {number} status HTTP status; 0 if there was no answer.
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.name = "ApiError";
    /** HTTP status; 0 if there was no answer. */
    this.status = status;
  }
}

/** @returns {ApiError} The error for a call without an answer. */
export function unreachable() {
  return new ApiError(0, "The server cannot be reached: check the connection and try again");
}

/**
 * The error in an answer.
 *
 * @param {number} status
 * @param {string} text The answer's body.
 * @returns {ApiError}
 */
export function refused(status, text) {
  return new ApiError(status, sentenceIn(text) ?? proxySentence(status));
}

/** @param {string} text @returns {string | undefined} */
function sentenceIn(text) {
  try {
    const sentence = JSON.parse(text)?.errors?.[0];
    return typeof sentence === "string" ? sentence : undefined;
  } catch {
    // The answer is not from the server but from a proxy.
    return undefined;
  }
}

/**
 * The sentence for an answer of a proxy in front of the server.
 *
 * @param {number} status
 * @returns {string}
 */
function proxySentence(status) {
  if (status === 413) {
    return "A proxy in front of the server refuses requests of this size: it must let 11 MB pass (nginx: client_max_body_size, Caddy: request_body max_size, Traefik: maxRequestBodyBytes)";
  }
  return `The server answered with status ${status}`;
}

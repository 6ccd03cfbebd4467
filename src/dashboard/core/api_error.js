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
  return new ApiError(status, sentenceIn(text) ?? foreignSentence(status));
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

/**
 * What is told of an answer that is not the server's own, but that of a proxy in front of it.
 *
 * @param {number} status
 * @returns {string}
 */
function foreignSentence(status) {
  if (status === 413) {
    return "A proxy in front of the server refuses requests of this size: it must let 11 MB pass (nginx: client_max_body_size, Caddy: request_body max_size, Traefik: maxRequestBodyBytes)";
  }
  return `The server answered with status ${status}`;
}

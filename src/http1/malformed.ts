/**
 * A message that is not one of HTTP/1.1, or one that we do not take. The message says what is wrong with it, as the end
 * of a sentence; the status is what a caller who sent it gets.
 */
export class Malformed extends Error {
  override readonly name = "Malformed";

  constructor(message: string, readonly status: 400 | 405 | 414 | 417 | 431 | 501 | 505 = 400) {
    super(message);
  }
}

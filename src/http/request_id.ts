/** What a caller may name its request: printable, without blanks or quotes, and short enough for a log. */
const SANE = /^[A-Za-z0-9._~:@/+=-]{1,128}$/;

/** Names requests: by a number, behind a random text that no other process has. */
export class RequestIds {
  readonly #prefix = crypto.randomUUID().slice(0, 18);
  #count = 0;

  /** The caller's `X-Request-Id` if it is a sane one, else a new one. */
  of(headers: Headers): string {
    const id = headers.get("x-request-id");
    if (id !== null && SANE.test(id)) return id;
    return `${this.#prefix}-${(this.#count++).toString(36)}`;
  }
}

/**
 * The headers of a request by name. Headers of one name stay apart: signatures join their values with a comma, where
 * `Headers` joins them with a comma and a space.
 */
export class RequestHeaders {
  readonly #values = new Map<string, string[]>();

  constructor(lines: Iterable<readonly [name: string, value: string]>) {
    for (const [name, value] of lines) {
      const lower = name.toLowerCase();
      const values = this.#values.get(lower);
      if (values === undefined) this.#values.set(lower, [value]);
      else values.push(value);
    }
  }

  /** The value of a header; `undefined` if it is absent. */
  get(name: string): string | undefined {
    return this.#values.get(name)?.join(",");
  }

  /** The names in lower case. */
  names(): Iterable<string> {
    return this.#values.keys();
  }

  /** The values without blanks around them, and with single spaces inside. A header that is absent has an empty one. */
  canonical(name: string): string {
    const values = this.#values.get(name) ?? [];
    // `trim` would also cut U+00A0, which can be the last byte of a character.
    return values.map((value) =>
      value.replaceAll(/^[ \t]+|[ \t]+$/g, "").replaceAll(/[ \t]+/g, " ")
    )
      .join(",");
  }
}

import { assert, assertEquals } from "@std/assert";
import { assertErrorCode } from "./openapi/error_codes.ts";

/** Bytes of an answer that a failed expectation shows. */
const EXCERPT = 500;

/** An answer that was read to its end, so that no test has to remember to consume a body. */
export class Answer {
  constructor(
    readonly status: number,
    readonly headers: Headers,
    readonly bytes: Uint8Array<ArrayBuffer>,
  ) {}

  static async of(response: Response): Promise<Answer> {
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.status >= 400) assertErrorCode(response.status, decode(bytes));
    return new Answer(response.status, response.headers, bytes);
  }

  get text(): string {
    return decode(this.bytes);
  }

  get json(): unknown {
    assertEquals(this.headers.get("Content-Type"), "application/json", this.excerpt);
    return JSON.parse(this.text);
  }

  /** The sentences of an error answer, whose shape is checked on the way. */
  get errors(): string[] {
    const body = this.json as { errors: string[] };
    assertEquals(Object.keys(body), ["errors", "code"], this.text);
    assert(Array.isArray(body.errors) && body.errors.length > 0, this.text);
    for (const sentence of body.errors) {
      assert(typeof sentence === "string" && sentence.trim().length > 0, this.text);
    }
    return body.errors;
  }

  /** The code of an error answer. */
  get code(): string {
    return (this.json as { code: string }).code;
  }

  header(name: string): string {
    const value = this.headers.get(name);
    assert(value !== null, `The answer ${this.status} has no header ${name}`);
    return value;
  }

  /** Fails with the body at hand when the status is another. */
  expect(status: number): this {
    assertEquals(this.status, status, `${status} expected, got ${this.status}: ${this.excerpt}`);
    return this;
  }

  /** Decoding all of a large answer for each expectation would take longer than the request. */
  private get excerpt(): string {
    return decode(this.bytes.subarray(0, EXCERPT));
  }
}

function decode(bytes: Uint8Array<ArrayBuffer>): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

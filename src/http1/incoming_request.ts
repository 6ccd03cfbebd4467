import type { RequestHead } from "./request_head.ts";

export interface RequestParts {
  head: RequestHead;
  /** The whole address, with path and query as they came. */
  url: string;
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
}

/** What the platform's own constructor gets: it would fold `..` in paths, and know no method `TRACE`. */
const ANY_URL = "http://localhost/";

/** A request as it came over a connection: method and address are not changed in any way. */
export class IncomingRequest extends Request {
  readonly #head: RequestHead;
  readonly #url: string;
  readonly #headers: Headers;
  readonly #body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  #ending: AbortController | undefined;

  constructor({ head, url, body }: RequestParts) {
    super(ANY_URL);
    this.#head = head;
    this.#url = url;
    this.#headers = new Headers(head.fields.map(({ name, value }) => [name, value]));
    this.#body = body;
  }

  override get method(): string {
    return this.#head.method;
  }

  override get url(): string {
    return this.#url;
  }

  override get headers(): Headers {
    return this.#headers;
  }

  override get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    return this.#body;
  }

  override get bodyUsed(): boolean {
    return this.#body?.locked ?? false;
  }

  /** Aborted when the connection ends before the answer has left. */
  override get signal(): AbortSignal {
    this.#ending ??= new AbortController();
    return this.#ending.signal;
  }

  override arrayBuffer(): Promise<ArrayBuffer> {
    return this.#asResponse().arrayBuffer();
  }

  override blob(): Promise<Blob> {
    return this.#asResponse().blob();
  }

  override bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#asResponse().bytes();
  }

  override formData(): Promise<FormData> {
    return this.#asResponse().formData();
  }

  override json(): Promise<unknown> {
    return this.#asResponse().json();
  }

  override text(): Promise<string> {
    return this.#asResponse().text();
  }

  /** To be called when the connection has ended before the answer has left. */
  abort(reason: unknown): void {
    this.#ending?.abort(reason);
  }

  #asResponse(): Response {
    return new Response(this.#body, { headers: this.#headers });
  }
}

import { testParts } from "../http/test_support.ts";
import type { KeyLimits } from "../rules/rights.ts";
import { openMemoryDatabase } from "../store/engine/database.ts";
import { Store } from "../store/store.ts";
import { addProject, S3_SECRET_KEY } from "../store/testing/stores.ts";
import { ALGORITHM, amzDate, scopeText, sha256Hex, sign, SigningKeys } from "./auth/signing_key.ts";
import { canonicalRequest, parseQuery, RequestHeaders } from "./auth/canonical_request.ts";
import { createS3App } from "./s3_app.ts";
import type { S3Deps } from "./s3_call.ts";
import { readXml, type XmlNode } from "../xml/xml_reader.ts";

export interface TestKey {
  accessKeyId: string;
  secret: string;
}

export interface TestRequest {
  query?: string;
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer> | string | undefined;
  key?: TestKey;
}

/** The S3 API over a store in memory, with a key of the project `p`. */
export class S3Bench {
  readonly #app: ReturnType<typeof createS3App>;

  private constructor(readonly store: Store, readonly key: TestKey, deps: S3Deps) {
    this.#app = createS3App(deps);
  }

  /** Runs a test with an S3 API of its own, which has the bucket `photos`. */
  static async use(
    work: (bench: S3Bench) => Promise<void>,
    own: Partial<S3Deps> = {},
  ): Promise<void> {
    const db = await openMemoryDatabase();
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    const store = new Store(db, { s3SecretKey: S3_SECRET_KEY, onError });
    try {
      await addProject(db, "p");
      await store.projects.createDrive("p", "photos");
      const key = await newKey(store, {});
      await work(
        new S3Bench(store, key, { ...testParts(store), domain: undefined, onError, ...own }),
      );
    } finally {
      await store.close();
    }
    if (errors.length > 0) throw new AggregateError(errors, "The server reported errors");
  }

  /** Creates another key. */
  async newKey(limits: KeyLimits): Promise<TestKey> {
    return await newKey(this.store, limits);
  }

  /** Sends a signed request. @param path Percent-encoded. */
  async send(method: string, path: string, request: TestRequest = {}): Promise<Response> {
    const { query = "", body, key = this.key } = request;
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    const headers = signedHeaders(key, {
      method,
      path,
      query,
      bytes,
      headers: request.headers ?? {},
    });
    const url = `http://s3.test${path}${query === "" ? "" : `?${query}`}`;
    return await this.handle(new Request(url, { method, headers, body: bytes ?? null }));
  }

  async handle(request: Request): Promise<Response> {
    const remoteAddr = { transport: "tcp", hostname: "192.0.2.1", port: 1 } as const;
    return await this.#app(request, { remoteAddr, completed: Promise.resolve() });
  }

  /** Sends a signed request, and returns the document of the response, which must succeed. */
  async ask(method: string, path: string, request: TestRequest = {}): Promise<XmlNode> {
    const response = await this.send(method, path, request);
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status}: ${text}`);
    return readXml(
      text,
      /<([A-Za-z]+)[ >]/.exec(text.slice(text.indexOf("?>")))?.[1] ?? "",
      10_000,
    );
  }

  /** Sends a signed request that must fail. Returns the code of the error, or for `HEAD` the status. */
  async fail(method: string, path: string, request: TestRequest = {}): Promise<string> {
    const response = await this.send(method, path, request);
    const text = await response.text();
    if (response.ok) throw new Error(`${method} ${path} succeeded: ${text}`);
    return method === "HEAD"
      ? String(response.status)
      : /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? text;
  }
}

async function newKey(store: Store, limits: KeyLimits): Promise<TestKey> {
  const made = await store.s3Keys.create("p", { limits });
  if (made === undefined) throw new Error("There is no project");
  return made;
}

/** Returns the headers of a request with its signature. */
export function signedHeaders(
  { accessKeyId, secret }: TestKey,
  { method, path, query, bytes, headers }: {
    method: string;
    path: string;
    query: string;
    bytes: Uint8Array | undefined;
    headers: Record<string, string>;
  },
): Record<string, string> {
  const date = amzDate(Date.now());
  const scope = { day: date.slice(0, 8), region: "us-east-1" };
  const signed: Record<string, string> = {
    host: "s3.test",
    "x-amz-date": date,
    "x-amz-content-sha256": sha256Hex(bytes ?? ""),
    ...Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    ),
  };
  const names = Object.keys(signed).sort();
  const canonical = canonicalRequest({
    method,
    path,
    query: parseQuery(query),
    headers: new RequestHeaders(Object.entries(signed)),
    signedHeaders: names,
    payload: signed["x-amz-content-sha256"] ?? "",
  });
  const text = [ALGORITHM, date, scopeText(scope), sha256Hex(canonical)].join("\n");
  const signature = sign(new SigningKeys().derive(secret, scope), text);
  const credential = `${accessKeyId}/${scopeText(scope)}`;
  return {
    ...signed,
    ...(bytes === undefined ? {} : { "content-length": String(bytes.byteLength) }),
    authorization: `${ALGORITHM} Credential=${credential},SignedHeaders=${
      names.join(";")
    },Signature=${signature}`,
  };
}

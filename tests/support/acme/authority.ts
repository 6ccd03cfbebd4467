import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { makeCertificates } from "../tls.ts";
import { Issuer } from "./issuer.ts";

/** A refusal of a request. */
export interface Refusal {
  status: number;
  /** The kind of the problem: `rateLimited`. */
  type: string;
  detail?: string;
  /** The value of `Retry-After`. */
  retryAfter?: string;
}

/** What the authority does differently. Each can be changed at any time. */
export interface Behaviour {
  /** Milliseconds for which certificates are valid. */
  lifetime: number;
  /** How long ago certificates began to be valid when they are issued, in milliseconds. */
  age: number;
  /** Answers to orders that are refused, by their first host name; "*" for all. */
  refusals: Map<string, Refusal>;
  /** Whether connections are closed without an answer. */
  isDown: boolean;
  /** Called before an order is finalized: a test can stop here. */
  onFinalize: () => Promise<void>;
  /** The window in which certificates should be renewed, in milliseconds after their issue. */
  renewal: readonly [start: number, end: number] | undefined;
}

interface Order {
  names: string[];
  status: "pending" | "ready" | "valid" | "invalid";
  error?: unknown;
  token: string;
  thumbprint: string;
  replaces: string | undefined;
  chain?: string;
}

/** A certificate that was issued. */
export interface Issued {
  name: string;
  at: number;
  replaces: string | undefined;
}

/** A client's signed request (RFC 7515). */
interface Signed {
  protected: string;
  payload: string;
  signature: string;
}

/**
 * An authority that follows RFC 8555 and RFC 9773: nonces, signatures, accounts, orders, HTTP-01, and the time of
 * renewal. It connects to the server under test to check a challenge.
 */
export class TestAuthority implements AsyncDisposable {
  readonly behaviour: Behaviour = {
    lifetime: 90 * 86_400_000,
    age: 0,
    refusals: new Map(),
    isDown: false,
    onFinalize: () => Promise.resolve(),
    renewal: undefined,
  };
  /** All requests for a new order: the host name and when it arrived, as `performance.now()`. */
  readonly orders: { name: string; at: number }[] = [];
  readonly issued: Issued[] = [];
  /** The contacts of the accounts, in the order of their creation. */
  readonly accounts: { key: JsonWebKey; contact: string[] }[] = [];
  /** The port on which challenges are checked; `undefined` while the server starts. */
  httpPort: number | undefined;
  /** Most orders that were open at the same time. */
  #open = 0;
  mostOpen = 0;
  readonly #orders: Order[] = [];
  readonly #nonces = new Set<string>();
  #port = 0;
  #server: Deno.HttpServer | undefined;

  private constructor(
    readonly issuer: Issuer,
    /** The certificate of the authority's own server, in PEM: what its clients have to trust. */
    public ownAuthority: string,
    private files: { cert: string; key: string },
  ) {}

  static async start(): Promise<TestAuthority> {
    const { authority, certificate, key } = await makeCertificates();
    const files = { cert: certificate, key };
    const one = new TestAuthority(await Issuer.make(), authority, files);
    one.#listen(0);
    return one;
  }

  get directory(): string {
    return `https://localhost:${this.#port}/directory`;
  }

  /** Uses a certificate of its own that is valid for so long before and after now, in milliseconds. */
  async useCertificateFor(time: number): Promise<void> {
    const validity = [new Date(Date.now() - time), new Date(Date.now() + time)] as const;
    const { authority, certificate, key } = await makeCertificates(validity);
    this.ownAuthority = authority;
    this.files = { cert: certificate, key };
    await this.leave();
    this.comeBack();
  }

  /** Stops to listen, as if the machine were away. */
  async leave(): Promise<void> {
    await this.#server?.shutdown();
    this.#server = undefined;
  }

  /** Listens again on the same port. */
  comeBack(): void {
    this.#listen(this.#port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.shutdown();
  }

  #listen(port: number): void {
    const options = { hostname: "127.0.0.1", port, ...this.files, onListen: () => {} };
    this.#server = Deno.serve(options, (request) => this.#respond(request));
    this.#port = (this.#server.addr as Deno.NetAddr).port;
  }

  async #respond(request: Request): Promise<Response> {
    try {
      return await this.#route(request);
    } catch (error) {
      return this.#problem({ status: 500, type: "serverInternal", detail: String(error) });
    }
  }

  async #route(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const base = `https://localhost:${this.#port}`;
    if (this.behaviour.isDown) return new Response("away", { status: 503 });
    if (pathname === "/directory") {
      const paths = {
        newNonce: "nonce",
        newAccount: "account",
        newOrder: "order",
        renewalInfo: "ari",
      };
      const all = Object.entries(paths).map(([name, path]) => [name, `${base}/${path}`]);
      return Response.json(Object.fromEntries(all));
    }
    if (pathname === "/nonce") return this.#answer(undefined);
    if (pathname.startsWith("/ari/")) return this.#renewalInfo(pathname.slice("/ari/".length));
    const signed = await request.json() as Signed;
    const header = parse(signed.protected) as {
      nonce: string;
      url: string;
      kid?: string;
      jwk?: JsonWebKey;
    };
    if (!this.#nonces.delete(header.nonce)) return this.#problem({ status: 400, type: "badNonce" });
    if (header.url !== request.url) return this.#problem({ status: 401, type: "unauthorized" });
    const account = header.kid === undefined ? -1 : Number(header.kid.split("/").at(-1));
    const key = header.jwk ?? this.accounts[account]?.key;
    if (key === undefined) return this.#problem({ status: 400, type: "accountDoesNotExist" });
    if (!await isSigned(signed, key)) return this.#problem({ status: 401, type: "unauthorized" });
    const body = signed.payload === ""
      ? undefined
      : parse(signed.payload) as Record<string, unknown>;
    const [, kind, id] = pathname.split("/");
    if (kind === "account") return this.#account(key, body ?? {}, base);
    if (kind === "order" && id === undefined) return this.#newOrder(key, body ?? {}, base);
    const order = this.#orders[Number(id)];
    if (order === undefined) return this.#problem({ status: 404, type: "malformed" });
    switch (kind) {
      case "authz":
        return this.#answer(authorization(order, `${base}/challenge/${id}`));
      case "challenge":
        this.#check(order);
        return this.#answer({
          type: "http-01",
          url: request.url,
          status: "processing",
          token: order.token,
        });
      case "finalize":
        return await this.#finalize(order, String(body?.["csr"]), `${base}/order/${id}`);
      case "certificate":
        return this.#answer(order.chain, { "Content-Type": "application/pem-certificate-chain" });
    }
    return this.#answer(this.#orderObject(order, base, Number(id)));
  }

  #account(key: JsonWebKey, body: Record<string, unknown>, base: string): Response {
    const contact = (body["contact"] ?? []) as string[];
    const known = this.accounts.findIndex((one) => one.key.x === key.x);
    const id = known === -1 ? this.accounts.push({ key, contact }) - 1 : known;
    const status = known === -1 ? 201 : 200;
    const headers = { Location: `${base}/account/${id}` };
    return this.#answer({ status: "valid", contact }, headers, status);
  }

  #newOrder(key: JsonWebKey, body: Record<string, unknown>, base: string): Response {
    const names = (body["identifiers"] as { value: string }[]).map(({ value }) => value);
    const [name = ""] = names;
    this.orders.push({ name, at: performance.now() });
    const refusal = this.behaviour.refusals.get(name) ?? this.behaviour.refusals.get("*");
    if (refusal !== undefined) return this.#problem(refusal);
    const token = crypto.randomUUID();
    const replaces = body["replaces"] as string | undefined;
    const order: Order = {
      names,
      status: "pending",
      token,
      thumbprint: thumbprintOf(key),
      replaces,
    };
    const id = this.#orders.push(order) - 1;
    this.mostOpen = Math.max(this.mostOpen, ++this.#open);
    return this.#answer(
      this.#orderObject(order, base, id),
      { Location: `${base}/order/${id}` },
      201,
    );
  }

  #orderObject(order: Order, base: string, id: number): unknown {
    return {
      status: order.status,
      identifiers: order.names.map((value) => ({ type: "dns", value })),
      authorizations: [`${base}/authz/${id}`],
      finalize: `${base}/finalize/${id}`,
      ...(order.error !== undefined && { error: order.error }),
      ...(order.chain !== undefined && { certificate: `${base}/certificate/${id}` }),
    };
  }

  /** Checks a challenge (RFC 8555, 8.3). */
  async #check(order: Order): Promise<void> {
    while (this.httpPort === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    const port = this.httpPort;
    const path = `/.well-known/acme-challenge/${order.token}`;
    const text = await getPlainly(port, order.names[0] ?? "", path).catch(String);
    if (text === `${order.token}.${order.thumbprint}`) {
      order.status = "ready";
      return;
    }
    order.status = "invalid";
    order.error = {
      type: problemType("unauthorized"),
      detail: `The answer was ${text.slice(0, 80)}`,
    };
    this.#open--;
  }

  async #finalize(order: Order, csr: string, url: string): Promise<Response> {
    await this.behaviour.onFinalize();
    const now = Date.now() - this.behaviour.age;
    order.chain = await this.issuer.issue(Uint8Array.from(Buffer.from(csr, "base64url")), {
      // Certificates have whole seconds.
      notBefore: new Date(now),
      notAfter: new Date(now + this.behaviour.lifetime),
      serial: this.issued.length + 1,
    });
    order.status = "valid";
    this.#open--;
    this.issued.push({ name: order.names[0] ?? "", at: Date.now(), replaces: order.replaces });
    const id = Number(url.split("/").at(-1));
    return this.#answer(this.#orderObject(order, new URL(url).origin, id), { Location: url });
  }

  /** The window of a certificate (RFC 9773, 4.2), which is named by its authority's key and its serial number. */
  #renewalInfo(id: string): Response {
    const { renewal } = this.behaviour;
    const serial = Buffer.from(id.split(".")[1] ?? "", "base64url").readUInt32BE(1);
    const issued = this.issued[serial - 1];
    if (renewal === undefined || issued === undefined) return new Response(null, { status: 404 });
    const [start, end] = renewal.map((time) => new Date(issued.at + time).toISOString());
    return Response.json({ suggestedWindow: { start, end } }, { headers: { "Retry-After": "1" } });
  }

  #problem({ status, type, detail = type, retryAfter }: Refusal): Response {
    const headers = retryAfter === undefined ? {} : { "Retry-After": retryAfter };
    const body = { type: problemType(type), detail, status };
    return this.#answer(body, { "Content-Type": "application/problem+json", ...headers }, status);
  }

  #answer(body: unknown, headers: Record<string, string> = {}, status = 200): Response {
    const nonce = crypto.randomUUID().replaceAll("-", "");
    this.#nonces.add(nonce);
    const text = typeof body === "string" || body === undefined ? body ?? "" : JSON.stringify(body);
    const all = { "Content-Type": "application/json", "Replay-Nonce": nonce, ...headers };
    return new Response(text, { status, headers: all });
  }
}

function authorization({ names, status, token, error }: Order, url: string): unknown {
  const state = status === "pending" || status === "invalid" ? status : "valid";
  return {
    status: state,
    identifier: { type: "dns", value: names[0] },
    challenges: [{
      type: "http-01",
      url,
      status: state,
      token,
      ...(error !== undefined && { error }),
    }],
  };
}

function problemType(kind: string): string {
  return `urn:ietf:params:acme:error:${kind}`;
}

function parse(text: string): unknown {
  return JSON.parse(Buffer.from(text, "base64url").toString());
}

async function isSigned(signed: Signed, jwk: JsonWebKey): Promise<boolean> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("jwk", jwk, algorithm, false, ["verify"]);
  const content = new TextEncoder().encode(`${signed.protected}.${signed.payload}`);
  const signature = Uint8Array.from(Buffer.from(signed.signature, "base64url"));
  return await crypto.subtle.verify(algorithm, key, signature, content);
}

/** The thumbprint of a key (RFC 7638). */
function thumbprintOf({ crv, kty, x, y }: JsonWebKey): string {
  return createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
}

/** Returns the body of an answer over plain HTTP. */
async function getPlainly(port: number, host: string, path: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  await connection.write(new TextEncoder().encode(request));
  const answer = await new Response(connection.readable).text();
  return answer.slice(answer.indexOf("\r\n\r\n") + 4);
}

import { Answer } from "../../support/answer.ts";
import { utf8 } from "../../support/bytes.ts";
import type { Drive } from "../../support/drive.ts";
import { PROJECT_ID, PROJECT_KEY } from "../../support/server.ts";

/** Sends requests without comparing the answers with `/openapi.json`, which does not describe WebDAV. */
const plainFetch: typeof fetch = globalThis.fetch;

export interface DavOptions {
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Another key than the project's; `null` sends none. */
  key?: string | null;
}

/** The header with a key as the password of HTTP Basic. */
export function basic(key: string, user = "any user"): Record<string, string> {
  return { Authorization: `Basic ${btoa(`${user}:${key}`)}` };
}

/** A drive as a WebDAV client sees it. */
export class Dav {
  constructor(readonly drive: Drive) {}

  /** The path of the drive, or of something in it. */
  path(name = ""): string {
    const path = name.split("/").map(encodeURIComponent).join("/");
    return `/dav/${PROJECT_ID}/${encodeURIComponent(this.drive.name)}/${path}`;
  }

  url(name = ""): string {
    return this.drive.server.origin + this.path(name);
  }

  async send(method: string, name: string, options: DavOptions = {}): Promise<Answer> {
    return await this.sendTo(method, this.path(name), options);
  }

  /** Sends a request to a path that is already encoded. */
  async sendTo(
    method: string,
    path: string,
    { headers = {}, body, key = PROJECT_KEY }: DavOptions = {},
  ): Promise<Answer> {
    const payload = typeof body === "string" ? utf8(body) : body;
    const response = await plainFetch(this.drive.server.origin + path, {
      method,
      headers: { ...key === null ? {} : basic(key), ...headers },
      ...payload === undefined ? {} : { body: payload },
    });
    return new Answer(
      response.status,
      response.headers,
      new Uint8Array(await response.arrayBuffer()),
    );
  }

  /** Creates the drive. */
  async make(): Promise<void> {
    (await this.send("MKCOL", "")).expect(201);
  }

  async put(name: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
    return await this.send("PUT", name, { body, headers });
  }

  async text(name: string): Promise<string> {
    return (await this.send("GET", name)).expect(200).text;
  }

  async propfind(name: string, depth: string, body?: string): Promise<Answer> {
    const answer = await this.send("PROPFIND", name, {
      headers: { Depth: depth },
      ...body === undefined ? {} : { body },
    });
    return answer.expect(207);
  }

  /** The paths in a folder below it, decoded and in order. */
  async names(name = ""): Promise<string[]> {
    const base = this.path(name);
    return hrefsIn(await this.propfind(name, "1", NAMES))
      .filter((href) => href !== base)
      .map((href) => decodeURIComponent(href.slice(base.length)));
  }

  /** Copies or moves something within the drive. */
  async transfer(
    method: "COPY" | "MOVE",
    from: string,
    to: string,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return await this.send(method, from, { headers: { Destination: this.url(to), ...headers } });
  }

  /** Locks a name. @returns the token. */
  async lock(name: string, options: LockOptions = {}): Promise<string> {
    const answer = await this.tryLock(name, options);
    if (answer.status >= 300) throw new Error(`LOCK ${name}: ${answer.status} ${answer.text}`);
    return tokenOf(answer);
  }

  async tryLock(
    name: string,
    { scope = "exclusive", depth = "0", headers = {}, key = PROJECT_KEY }: LockOptions = {},
  ): Promise<Answer> {
    const body = `<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><${scope}/></lockscope>` +
      "<locktype><write/></locktype><owner>A person</owner></lockinfo>";
    return await this.send("LOCK", name, { body, key, headers: { Depth: depth, ...headers } });
  }

  async unlock(name: string, token: string, key = PROJECT_KEY): Promise<Answer> {
    return await this.send("UNLOCK", name, { key, headers: { "Lock-Token": `<${token}>` } });
  }
}

export interface LockOptions {
  scope?: "exclusive" | "shared";
  depth?: string;
  headers?: Record<string, string>;
  key?: string;
}

/** Sends a request whose path `fetch` would change. @returns the status. */
export async function rawStatus(...request: Parameters<typeof firstLine>): Promise<number> {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(await firstLine(...request))?.[1]);
}

/** Sends a request without a body. @returns the first line of the first answer. */
export async function firstLine(
  { server: { port }, owner: { key } }: Drive,
  method: string,
  target: string,
  headers: Record<string, string> = {},
): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const all = { Host: "localhost", Connection: "close", ...basic(key), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  await connection.write(utf8([`${method} ${target} HTTP/1.1`, ...lines, "", ""].join("\r\n")));
  let text = "";
  for await (const piece of connection.readable.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes("\r\n")) break;
  }
  return text.slice(0, text.indexOf("\r\n"));
}

/** Creates a key of the tests' project. */
export async function makeKey(drive: Drive, limits: Record<string, unknown>): Promise<string> {
  const path = `/admin/v1/projects/${PROJECT_ID}/keys`;
  const response = await plainFetch(drive.server.origin + path, {
    method: "POST",
    headers: { "X-Api-Key": PROJECT_KEY },
    body: JSON.stringify({ name: crypto.randomUUID(), ...limits }),
  });
  const { project_key } = await response.json() as { project_key?: string };
  if (project_key === undefined) throw new Error(`No key: ${response.status}`);
  return project_key;
}

/** Asks for nothing but names. */
export const NAMES = '<propfind xmlns="DAV:"><prop><resourcetype/></prop></propfind>';

export function tokenOf(answer: Answer): string {
  return answer.header("Lock-Token").slice(1, -1);
}

/** The header If with a token for the resource of the request. */
export function ifToken(...tokens: string[]): Record<string, string> {
  return { If: tokens.map((token) => `(<${token}>)`).join(" ") };
}

/** The text of all elements `href`, in their order. */
export function hrefsIn(answer: Answer): string[] {
  return [...answer.text.matchAll(/<D:response><D:href>([^<]*)<\/D:href>/g)]
    .map(([, href = ""]) => href);
}

/** The text of the first element with a name; `undefined` without one. */
export function propertyIn(answer: Answer, name: string): string | undefined {
  return new RegExp(`<D:${name}>([^<]*)</D:${name}>`).exec(answer.text)?.[1];
}

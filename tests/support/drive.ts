import { assert, assertEquals } from "@std/assert";
import { equals } from "@std/bytes/equals";
import { Answer } from "./answer.ts";
import { assertSameBytes, utf8 } from "./bytes.ts";
import { newAddressHeader, PROJECT_ID, PROJECT_KEY, type TestServer } from "./server.ts";

export interface SendOptions {
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Another key than the project's; `null` sends none. */
  key?: string | null;
  project?: string;
}

export interface Usage {
  files: number;
  bytes: number;
}

export interface FileDetails {
  name: string;
  size: number;
  content_type: string;
  etag: string;
  created: string;
  modified: string;
  expires?: string;
  mtime?: string;
  thumbnail?: true;
}

export interface Listing {
  names: string[];
  paging?: { size: number; last: string };
  files?: FileDetails[];
}

/** `?name=…` by the rules of `application/x-www-form-urlencoded`. */
export function query(parameters: Record<string, string | number>): string {
  const pairs = Object.entries(parameters).map(([key, value]) => [key, String(value)]);
  return `?${new URLSearchParams(pairs)}`;
}

/** Whose drive it is, and what opens it. */
export interface Owner {
  project: string;
  key: string;
}

const THE_OWNER: Owner = { project: PROJECT_ID, key: PROJECT_KEY };

/** A drive of a server; by default of the tests' project. */
export class Drive {
  constructor(readonly server: TestServer, readonly name: string, readonly owner = THE_OWNER) {}

  another(suffix: string): Drive {
    return new Drive(this.server, `${this.name}-${suffix}`, this.owner);
  }

  async send(method: string, path: string, options: SendOptions = {}): Promise<Answer> {
    const { body, ...rest } = options;
    // A text would bring the content type of a text along.
    const payload = typeof body === "string" ? utf8(body) : body;
    const init = {
      ...this.owner,
      ...rest,
      method,
      ...(payload === undefined ? {} : { body: payload }),
    };
    return await Answer.of(await this.server.fetch(this.name, path, init));
  }

  async put(
    name: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const answer = await this.send("POST", `/files${query({ name })}`, { body, headers });
    return answer.expect(201);
  }

  async putAll(names: readonly string[]): Promise<void> {
    for (let i = 0; i < names.length; i += 32) {
      await Promise.all(names.slice(i, i + 32).map((name) => this.put(name, name)));
    }
  }

  /** Makes many files with the same content: one, and copies of it, up to a thousand in one call. */
  async fill([from = "", ...names]: readonly string[]): Promise<void> {
    await this.put(from, "a copy");
    for (let i = 0; i < names.length; i += 1000) {
      const items = names.slice(i, i + 1000).map((to) => ({ from, to }));
      const answer = await this.send("POST", "/files/copy", { body: JSON.stringify({ items }) });
      assertEquals((answer.expect(200).json as { failed: unknown }).failed, []);
    }
  }

  /** Returns the answer with any status; the caller checks it. */
  async get(name: string, headers: Record<string, string> = {}): Promise<Answer> {
    return await this.send("GET", `/files/download${query({ name })}`, { headers });
  }

  async text(name: string): Promise<string> {
    return (await this.get(name)).expect(200).text;
  }

  async etag(name: string): Promise<string> {
    return (await this.get(name)).expect(200).header("ETag");
  }

  async list(parameters: Record<string, string | number> = {}): Promise<Listing> {
    const answer = await this.send("GET", `/files${query(parameters)}`);
    return answer.expect(200).json as Listing;
  }

  async names(parameters: Record<string, string | number> = {}): Promise<string[]> {
    return (await this.list(parameters)).names;
  }

  async details(): Promise<FileDetails[]> {
    return (await this.list({ details: "true" })).files ?? [];
  }

  async delete(names: string[]): Promise<unknown> {
    const body = JSON.stringify({ names });
    return (await this.send("DELETE", "/files", { body })).expect(200).json;
  }

  /** The usage of the drive in the list of drives; `undefined` if it is not listed. */
  async usage(): Promise<Usage | undefined> {
    return (await drives(this.server, this.owner)).get(this.name);
  }

  /** Everything that a refused write must leave as it was. */
  async state(): Promise<unknown> {
    const uploads = (await this.send("GET", "/uploads")).expect(200).json;
    return { files: await this.list({ details: "true" }), uploads, usage: await this.usage() };
  }

  /** Runs something that must not change anything in this drive. */
  async unchangedBy<T>(act: () => Promise<T>): Promise<T> {
    const before = await this.state();
    const result = await act();
    assertEquals(await this.state(), before);
    return result;
  }
}

/** A request with the project key to any path of the server. */
export async function send(
  server: TestServer,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; key?: string | null } = {},
): Promise<Answer> {
  const headers = new Headers({ ...newAddressHeader(options.key), ...options.headers });
  if (options.key !== null) headers.set("X-Api-Key", options.key ?? PROJECT_KEY);
  return await Answer.of(await fetch(`${server.origin}${path}`, { method, headers }));
}

/** The usage of a project's drives by name; by default of the tests' project. */
export async function drives(
  server: TestServer,
  { project, key } = THE_OWNER,
): Promise<Map<string, Usage>> {
  const found = new Map<string, Usage>();
  for (let last: string | undefined = "";;) {
    const answer = await send(server, "GET", `/v1/${project}${query({ last })}`, { key });
    const body = answer.expect(200).json as {
      project_id: string;
      drives: { drive_name: string; files: number; bytes: number }[];
      paging?: { size: number; last: string };
    };
    assertEquals(body.project_id, project);
    for (const { drive_name, files, bytes } of body.drives) found.set(drive_name, { files, bytes });
    last = body.paging?.last;
    if (last === undefined) return found;
    assertEquals(body.paging?.size, body.drives.length);
  }
}

export interface UploadDetails {
  name: string;
  upload_id: string;
  project_id: string;
  drive_name: string;
  created: string;
  expires: string;
  content_type?: string;
  parts: { part: number; size: number; sha256?: string }[];
}

/** One upload in parts. The calls return answers with any status; the caller checks it. */
export class Upload {
  constructor(readonly drive: Drive, readonly name: string, readonly id: string) {}

  static async start(
    drive: Drive,
    name: string,
    headers: Record<string, string> = {},
  ): Promise<Upload> {
    const answer = await drive.send("POST", `/uploads${query({ name })}`, { headers });
    const { upload_id } = answer.expect(202).json as { upload_id: string };
    return new Upload(drive, name, upload_id);
  }

  /** The same upload as a client that is wrong about its drive or name would call it. */
  as(change: { drive?: Drive; name?: string; id?: string }): Upload {
    return new Upload(change.drive ?? this.drive, change.name ?? this.name, change.id ?? this.id);
  }

  get path(): string {
    return `/uploads/${encodeURIComponent(this.id)}`;
  }

  async send(
    part: number | string,
    body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const path = `${this.path}/parts${query({ name: this.name, part })}`;
    return await this.drive.send("POST", path, { body, headers });
  }

  async complete(headers: Record<string, string> = {}): Promise<Answer> {
    return await this.drive.send("PATCH", this.path + query({ name: this.name }), { headers });
  }

  async abort(): Promise<Answer> {
    return await this.drive.send("DELETE", this.path + query({ name: this.name }));
  }

  async lookUp(parameters: Record<string, string> = {}): Promise<Answer> {
    return await this.drive.send("GET", this.path + query({ name: this.name, ...parameters }));
  }

  async parts(): Promise<{ part: number; size: number }[]> {
    return ((await this.lookUp()).expect(200).json as UploadDetails).parts;
  }
}

/** Uploads the parts one after another and completes the upload. */
export async function uploadParts(
  drive: Drive,
  name: string,
  parts: readonly Uint8Array<ArrayBuffer>[],
  headers: Record<string, string> = {},
): Promise<Upload> {
  const upload = await Upload.start(drive, name, headers);
  for (const [index, bytes] of parts.entries()) (await upload.send(index + 1, bytes)).expect(200);
  (await upload.complete()).expect(200);
  return upload;
}

type Bytes = Uint8Array<ArrayBuffer>;

export function joinBytes(pieces: readonly Bytes[]): Bytes {
  const joined = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}

/**
 * "Names, counts and bytes used agree with each other": the drive holds exactly these files, by
 * its list, its counts and its downloads.
 */
export async function assertFiles(
  drive: Drive,
  files: Record<string, Uint8Array>,
): Promise<void> {
  const names = Object.keys(files);
  assertEquals(new Set(await drive.names()), new Set(names));
  for (const [name, bytes] of Object.entries(files)) {
    assertSameBytes((await drive.get(name)).expect(200).bytes, bytes);
  }
  const bytes = Object.values(files).reduce((sum, one) => sum + one.length, 0);
  const usage = await drive.usage() ?? { files: 0, bytes: 0 };
  assertEquals(usage, { files: names.length, bytes });
}

/** The one of the candidates that a file has become; fails when it is none of them. */
export async function findContent(
  drive: Drive,
  name: string,
  candidates: readonly Uint8Array[],
): Promise<Uint8Array> {
  const { bytes } = (await drive.get(name)).expect(200);
  const found = candidates.find((one) => equals(one, bytes));
  assert(found !== undefined, `${bytes.length} bytes that were never sent as one body`);
  return found;
}

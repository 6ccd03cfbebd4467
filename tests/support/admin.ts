import { assert, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { Answer } from "./answer.ts";
import { Drive } from "./drive.ts";
import { newAddress, type ServerOptions, type TestServer } from "./server.ts";

export const ADMIN_TOKEN = "token-of-the-administrator-0123456789";

/** A server whose administrator is known. */
export const ADMINISTERED: ServerOptions = { env: { KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN } };

/** What encrypts S3 keys: 32 bytes in base64. */
export const S3_SECRET = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/** The same server with S3 keys, also on a shared store. */
export const WITH_S3_KEYS: ServerOptions = {
  env: { ...ADMINISTERED.env, KVDRIVE_S3_SECRET: S3_SECRET },
};

export const PROJECTS = "/admin/v1/projects";

/** "UTC with seconds" */
export const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

export interface NewProject {
  project_id: string;
  name: string | null;
  created: string;
  max_bytes: number | null;
  max_files: number | null;
  project_key: string;
  prefix: string;
}

/** A project key in lists and, with the key itself, in the answer that creates it. */
export interface ListedKey {
  prefix: string;
  name: string | null;
  permissions: string[];
  drives: string[] | null;
  name_prefix: string | null;
  created: string;
  expires: string | null;
  last_used: string | null;
}

export interface NewKey extends ListedKey {
  project_key: string;
}

/** An S3 key in lists and, with its secret, in the answer that creates it. */
export interface ListedS3Key {
  access_key_id: string;
  name: string | null;
  permissions: string[];
  drives: string[] | null;
  prefix: string | null;
  created: string;
  expires: string | null;
  last_used: string | null;
  usable: boolean;
}

export interface NewS3Key extends ListedS3Key {
  secret_access_key: string;
}

export interface NewAppKey {
  name: string;
  description: string | null;
  prefix: string;
  api_key: string;
  created: string;
}

/** An entry of an audit log. */
export interface AuditEvent {
  id: string;
  at: string;
  event: string;
  by: string;
  address: string;
  target: string;
}

/** The credentials of a caller, as headers; by default the administrator's. */
export type Caller = Record<string, string>;

export const administrator: Caller = { Authorization: `Bearer ${ADMIN_TOKEN}` };

export function withKey(key: string): Caller {
  return { "X-Api-Key": key };
}

/** A call that is wrong comes from an address of its own, so that it does not count with others. */
export function fromNewAddress(headers: Caller): Caller {
  return { ...headers, "X-Forwarded-For": newAddress() };
}

/** One call of the administration. A body that is no text is sent as JSON. */
export async function administer(
  server: { origin: string },
  method: string,
  path: string,
  { as = administrator, body }: { as?: Caller; body?: unknown } = {},
): Promise<Answer> {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const init = { method, headers: as, ...(text === undefined ? {} : { body: text }) };
  return await Answer.of(await fetch(`${server.origin}${path}`, init));
}

/** Waits until the server runs so many requests of a kind, whose keys it has accepted. */
export async function waitForRunning(
  server: { origin: string },
  kind: "upload" | "other",
  count: number,
): Promise<void> {
  const running = new RegExp(`^kvdrive_http_running\\{kind="${kind}"\\} ${count}$`, "m");
  const end = Date.now() + 60_000;
  for (;;) {
    const { text } = await administer(server, "GET", "/metrics");
    if (running.test(text)) return;
    assert(Date.now() < end, `The server does not run ${count} requests: ${text}`);
    await delay(20);
  }
}

/** A project of the server, with the key that was made with it. */
export class Project {
  constructor(readonly server: TestServer, readonly id: string, readonly key: string) {}

  static async make(server: TestServer, body?: unknown): Promise<Project> {
    const answer = await administer(server, "POST", PROJECTS, { body });
    const { project_id, project_key } = answer.expect(201).json as NewProject;
    return new Project(server, project_id, project_key);
  }

  get path(): string {
    return `${PROJECTS}/${this.id}`;
  }

  get owner(): Caller {
    return withKey(this.key);
  }

  /** A call below the project's path; by default the administrator's. */
  async call(
    method: string,
    path: string,
    options: { as?: Caller; body?: unknown } = {},
  ): Promise<Answer> {
    return await administer(this.server, method, this.path + path, options);
  }

  /** Creates a key with these limits. @param as Who creates it; by default the administrator. */
  async makeKey(limits: unknown = {}, as: Caller = administrator): Promise<NewKey> {
    return (await this.call("POST", "/keys", { as, body: limits })).expect(201).json as NewKey;
  }

  /** The keys of the project, as a caller sees them; by default the administrator. */
  async keys(as: Caller = administrator): Promise<ListedKey[]> {
    const body = (await this.call("GET", "/keys", { as })).expect(200).json;
    return (body as { keys: ListedKey[] }).keys;
  }

  /** Creates an S3 key with these limits. @param as Who creates it; by default the administrator. */
  async makeS3Key(limits: unknown = {}, as: Caller = administrator): Promise<NewS3Key> {
    const answer = await this.call("POST", "/s3-keys", { as, body: limits });
    return answer.expect(201).json as NewS3Key;
  }

  /** The S3 keys of the project, as a caller sees them; by default the administrator. */
  async s3Keys(as: Caller = administrator): Promise<ListedS3Key[]> {
    const body = (await this.call("GET", "/s3-keys", { as })).expect(200).json;
    return (body as { s3_keys: ListedS3Key[] }).s3_keys;
  }

  /** The same project with another of its keys. */
  with(key: string): Project {
    return new Project(this.server, this.id, key);
  }

  /** The drives of the project, as those who have its key see them. */
  drive(name: string): Drive {
    return new Drive(this.server, name, { project: this.id, key: this.key });
  }

  /** A call of the file API, with a key of the project. */
  async files(method: string, path: string, key = this.key): Promise<Answer> {
    return await administer(this.server, method, `/v1/${this.id}${path}`, { as: withKey(key) });
  }

  async makeApp(body: { name: string; upstream?: string; host?: string }): Promise<string> {
    (await this.call("POST", "/apps", { body })).expect(201);
    return `/apps/${body.name}`;
  }

  /** Makes an application with access control. @returns its path below the project's. */
  async makeProtectedApp(name: string): Promise<string> {
    const app = await this.makeApp({ name });
    (await this.call("PUT", `${app}/access`, { body: { enabled: true } })).expect(200);
    return app;
  }

  async makeAppKey(app: string, body: { name: string; description?: string }): Promise<NewAppKey> {
    return (await this.call("POST", `${app}/keys`, { body })).expect(201).json as NewAppKey;
  }
}

/** Checks the creation date of a value. @returns the value without it. */
export function withoutDate<T extends { created: string }>(value: T): Omit<T, "created"> {
  const { created, ...rest } = value;
  assertMatch(created, SECONDS);
  const age = Date.now() - Date.parse(created);
  assert(age > -2000 && age < 600_000, `${created} is not about now`);
  return rest;
}

/** Fails unless no cache may store an answer and no page of another origin may read it. */
export function assertPrivate(answer: Answer): void {
  // Older runtimes also add no-transform.
  assertMatch(answer.header("Cache-Control") ?? "", /^no-store(, no-transform)?$/);
  for (const [name] of answer.headers) assert(!name.startsWith("access-control-"), name);
  assert(answer.headers.has("X-Request-Id"));
}

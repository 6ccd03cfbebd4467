import { unlessMissing } from "./error.ts";
import { fieldsOf } from "./headers.ts";
import type { Transport } from "./transport.ts";
import type {
  Access,
  App,
  AppChange,
  AppKey,
  AppKeyOptions,
  AppOptions,
  CreatedWebhook,
  ErrorCode,
  NewAppKey,
  NewProjectKey,
  NewS3Key,
  ProjectKey,
  ProjectKeyOptions,
  S3Key,
  S3KeyOptions,
  Webhook,
  WebhookChange,
  WebhookOptions,
  WebhookTest,
} from "./types.ts";

/** The keys of one kind. */
interface KeyKind {
  path: readonly string[];
  /** The field of lists that has them. */
  field: string;
  /** The code of the error for a key that does not exist. */
  missing: ErrorCode;
}

/**
 * Keys: those of a project, its S3 keys, or those of an application.
 *
 * @example
 * ```ts
 * const { project_key, prefix } = await project.keys.create({ permissions: ["read", "list"] });
 * await project.keys.list(); // without secrets
 * await project.keys.delete(prefix); // true
 * ```
 */
export class Keys<Listed, Created, Options extends object> {
  readonly #transport: Transport;
  readonly #kind: KeyKind;

  /** Use `project.keys`, `project.s3Keys` or `project.apps.keys(name)`. */
  constructor(transport: Transport, kind: KeyKind) {
    this.#transport = transport;
    this.#kind = kind;
  }

  /** Lists the keys, without their secrets. */
  async list(): Promise<Listed[]> {
    const { path, field } = this.#kind;
    const answer = await this.#transport.json<Record<string, Listed[]>>({ method: "GET", path });
    return answer[field] ?? [];
  }

  /** Creates a key. Its secret is shown only here. It is not repeated if its answer was lost. */
  async create(options: Options): Promise<Created> {
    const { path } = this.#kind;
    const request = { method: "POST", path, json: fieldsOf(options), isUnrepeatable: true };
    return await this.#transport.json(request);
  }

  /** Revokes a key by the prefix, id or name by which it is listed. Reports whether there was one. */
  async delete(id: string): Promise<boolean> {
    const { path, missing } = this.#kind;
    const request = { method: "DELETE", path: [...path, id] };
    return await unlessMissing(this.#transport.json(request), [missing]) !== undefined;
  }
}

/**
 * The keys of a project.
 *
 * @example
 * ```ts
 * const keys: ProjectKeys = project.keys;
 * await keys.create({ name: "scanner", permissions: ["write"], namePrefix: "inbox/" });
 * ```
 */
export type ProjectKeys = Keys<ProjectKey, NewProjectKey, ProjectKeyOptions>;
/**
 * The S3 keys of a project.
 *
 * @example
 * ```ts
 * const keys: S3Keys = project.s3Keys;
 * await keys.create({ name: "backup" });
 * ```
 */
export type S3Keys = Keys<S3Key, NewS3Key, S3KeyOptions>;
/**
 * The keys of an application.
 *
 * @example
 * ```ts
 * await project.apps.create({ name: "viewer", access: { enabled: true } });
 * const keys: AppKeys = project.apps.keys("viewer");
 * await keys.create({ name: "ci" });
 * ```
 */
export type AppKeys = Keys<AppKey, NewAppKey, AppKeyOptions>;

/**
 * The hosted applications of a project.
 *
 * @example
 * ```ts
 * await project.apps.create({ name: "viewer", access: { enabled: true } });
 * const { api_key } = await project.apps.keys("viewer").create({ name: "ci" });
 * await project.apps.delete("viewer"); // true
 * ```
 */
export class Apps {
  readonly #transport: Transport;
  readonly #path: readonly string[];

  /** Use `project.apps`. */
  constructor(transport: Transport) {
    this.#transport = transport;
    this.#path = [...transport.admin, "apps"];
  }

  /** Lists the applications. */
  async list(): Promise<App[]> {
    const request = { method: "GET", path: this.#path };
    return (await this.#transport.json<{ apps: App[] }>(request)).apps;
  }

  /** Creates an application. Only the administrator sets the upstream address of one. */
  async create(options: AppOptions): Promise<App> {
    const request = { method: "POST", path: this.#path, json: fieldsOf(options) };
    return await this.#transport.json({ ...request, isUnrepeatable: true });
  }

  /** Returns an application; `undefined` if there is none. */
  async get(name: string): Promise<App | undefined> {
    const request = { method: "GET", path: [...this.#path, name] };
    return await unlessMissing(this.#transport.json<App>(request), ["app_not_found"]);
  }

  /** Changes an application. */
  async change(name: string, change: AppChange): Promise<App> {
    const path = [...this.#path, name];
    return await this.#transport.json({ method: "PATCH", path, json: fieldsOf(change) });
  }

  /** Deletes an application and its keys. Reports whether there was one. */
  async delete(name: string): Promise<boolean> {
    const request = { method: "DELETE", path: [...this.#path, name] };
    return await unlessMissing(this.#transport.json(request), ["app_not_found"]) !== undefined;
  }

  /** Turns the access control of an application on or off. */
  async setAccess(name: string, access: Access): Promise<Access> {
    const path = [...this.#path, name, "access"];
    return await this.#transport.json({ method: "PUT", path, json: access });
  }

  /** The keys of an application. */
  keys(name: string): AppKeys {
    const path = [...this.#path, name, "keys"];
    return new Keys(this.#transport, { path, field: "keys", missing: "app_key_not_found" });
  }
}

/**
 * The webhooks of a project, which has to keep changes.
 *
 * @example
 * ```ts
 * await project.change({ changeDays: 7 });
 * const { id, secret } = await project.webhooks.create({
 *   name: "index",
 *   url: "https://hooks.example.com/",
 * });
 * await project.webhooks.delete(id); // true
 * ```
 */
export class Webhooks {
  readonly #transport: Transport;
  readonly #path: readonly string[];

  /** Use `project.webhooks`. */
  constructor(transport: Transport) {
    this.#transport = transport;
    this.#path = [...transport.admin, "webhooks"];
  }

  /** Lists the webhooks with what became of their deliveries, without their secrets. */
  async list(): Promise<Webhook[]> {
    const request = { method: "GET", path: this.#path };
    return (await this.#transport.json<{ webhooks: Webhook[] }>(request)).webhooks;
  }

  /** Creates a webhook. Its secret is shown only here. It is not repeated if its answer was lost. */
  async create(options: WebhookOptions): Promise<CreatedWebhook> {
    const request = { method: "POST", path: this.#path, json: fieldsOf(options) };
    return await this.#transport.json({ ...request, isUnrepeatable: true });
  }

  /** Changes a webhook, or enables it again. */
  async change(id: string, change: WebhookChange): Promise<Webhook> {
    const path = [...this.#path, id];
    return await this.#transport.json({ method: "PATCH", path, json: fieldsOf(change) });
  }

  /** Sends a test to the receiver, and returns what came back. */
  async test(id: string): Promise<WebhookTest> {
    return await this.#transport.json({ method: "POST", path: [...this.#path, id, "test"] });
  }

  /** Deletes a webhook. Reports whether there was one. */
  async delete(id: string): Promise<boolean> {
    const request = { method: "DELETE", path: [...this.#path, id] };
    return await unlessMissing(this.#transport.json(request), ["webhook_not_found"]) !== undefined;
  }
}

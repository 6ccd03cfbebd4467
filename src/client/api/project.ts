import { Apps, Keys, type ProjectKeys, type S3Keys, Webhooks } from "./administration.ts";
import { Drive } from "./drive.ts";
import { unlessMissing } from "./error.ts";
import { fieldsOf } from "./headers.ts";
import type { Transport } from "./transport.ts";
import type {
  CreatedDrive,
  DriveInfo,
  OwnKey,
  ProjectChange,
  ProjectDetails,
  ProjectEvent,
  UsageDay,
} from "./types.ts";

/**
 * The project of a key: its drives and, with the permission `admin`, its administration. Servers do not answer the
 * administration to web pages of other origins.
 *
 * @example
 * ```ts
 * await project.drive("photos").put("a.txt", "Hello");
 * for await (const { drive_name, bytes } of project.drives()) [drive_name, bytes];
 * await project.whoami(); // what the key may do
 * ```
 */
export class Project {
  /** The project's id. */
  readonly id: string;
  readonly keys: ProjectKeys;
  readonly s3Keys: S3Keys;
  readonly apps: Apps;
  readonly webhooks: Webhooks;
  readonly #transport: Transport;

  /** Use `connect`. */
  constructor(transport: Transport) {
    const { admin } = transport;
    this.id = transport.project;
    this.keys = new Keys(transport, {
      path: [...admin, "keys"],
      field: "keys",
      missing: "key_not_found",
    });
    this.s3Keys = new Keys(transport, {
      path: [...admin, "s3-keys"],
      field: "s3_keys",
      missing: "s3_key_not_found",
    });
    this.apps = new Apps(transport);
    this.webhooks = new Webhooks(transport);
    this.#transport = transport;
  }

  /** Returns a drive. It need not exist: the first file that is stored makes it. */
  drive(name: string): Drive {
    return new Drive(this.#transport, name);
  }

  /** Lists the drives, or those whose names begin with a prefix. */
  drives({ prefix, signal }: {
    prefix?: string | undefined;
    signal?: AbortSignal | undefined;
  } = {}): AsyncIterable<DriveInfo> {
    const list = { path: this.#transport.files, query: { prefix }, signal };
    return this.#transport.items(list, "drives");
  }

  /** Creates a drive without files, which is kept until it is deleted. */
  async createDrive(name: string): Promise<CreatedDrive> {
    const path = [...this.#transport.files, "drives"];
    const request = { method: "POST", path, json: { name }, isUnrepeatable: true };
    return await this.#transport.json(request);
  }

  /** Deletes a drive with all its files. Reports whether there was one. */
  async deleteDrive(name: string): Promise<boolean> {
    const request = { method: "DELETE", path: [...this.#transport.admin, "drives", name] };
    return await unlessMissing(this.#transport.json(request), ["drive_not_found"]) !== undefined;
  }

  /** Returns what the key may do. */
  async whoami(): Promise<OwnKey> {
    return await this.#transport.json({ method: "GET", path: [...this.#transport.admin, "key"] });
  }

  /** Returns the project with its usage and its limits. */
  async details(): Promise<ProjectDetails> {
    return await this.#transport.json({ method: "GET", path: this.#transport.admin });
  }

  /** Changes settings of the project. */
  async change(change: ProjectChange): Promise<ProjectDetails> {
    const path = this.#transport.admin;
    return await this.#transport.json({ method: "PATCH", path, json: fieldsOf(change) });
  }

  /** Returns what the project used, day by day. */
  async usage({ days }: { days?: number | undefined } = {}): Promise<UsageDay[]> {
    const request = { method: "GET", path: [...this.#transport.admin, "usage"], query: { days } };
    return (await this.#transport.json<{ days: UsageDay[] }>(request)).days;
  }

  /** Lists the audit log, the newest first. */
  events(): AsyncIterable<ProjectEvent> {
    return this.#transport.items({ path: [...this.#transport.admin, "events"] }, "events");
  }
}

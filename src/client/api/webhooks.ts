import { unlessMissing } from "./error.ts";
import { fieldsOf } from "./headers.ts";
import type { Transport } from "./transport.ts";
import type { NewWebhook, Webhook, WebhookChange, WebhookOptions, WebhookTest } from "./types.ts";

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
  async create(options: WebhookOptions): Promise<NewWebhook> {
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

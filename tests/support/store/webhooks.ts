import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { Webhook } from "standardwebhooks";
import { Project } from "../admin.ts";
import type { Answer } from "../answer.ts";
import type { TestServer } from "../server.ts";
import { type Change, keepChanges } from "./changes.ts";

export interface Delivery {
  method: string;
  path: string;
  headers: Headers;
  text: string;
  at: number;
}

export interface Message {
  project_id: string;
  drive_name: string;
  changes: Change[];
}

export interface ListedWebhook {
  id: string;
  name: string;
  url: string;
  drives: string[] | null;
  name_prefix: string | null;
  types: string[] | null;
  enabled: boolean;
  disabled_reason: string | null;
  created: string;
  last_delivery: string | null;
  last_status: number | null;
  last_error: string | null;
  failing_since: string | null;
  next_attempt: string | null;
  changes_missed: string | null;
  pending: number;
  deliveries: { at: string; status: number | null; drive_name: string; changes: number }[];
}

export interface NewWebhook extends ListedWebhook {
  secret: string;
}

/** What a receiver answers; by default 204. */
type Answering = (delivery: Delivery) => Response | Promise<Response>;

/** A receiver of webhooks on this machine. */
export class Receiver implements AsyncDisposable {
  readonly deliveries: Delivery[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(public answer: Answering = () => new Response(null, { status: 204 }), port = 0) {
    const options = { hostname: "127.0.0.1", port, onListen: () => {} };
    this.#server = Deno.serve(options, async (request) => {
      const { pathname: path, search } = new URL(request.url);
      const { method, headers } = request;
      const delivery: Delivery = {
        method,
        path: path + search,
        headers,
        text: await request.text(),
        at: Date.now(),
      };
      this.deliveries.push(delivery);
      return await this.answer(delivery);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/hook`;
  }

  get port(): number {
    return this.#server.addr.port;
  }

  get messages(): Message[] {
    return this.deliveries.map(({ text }) => JSON.parse(text));
  }

  /** Names of all changes that arrived, as `drive/name`. */
  get names(): string[] {
    return this.messages.flatMap(({ drive_name, changes }) =>
      changes.map(({ name }) => `${drive_name}/${name}`)
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** Verifies a delivery as receivers do, with the library of Standard Webhooks. */
export function verified({ headers, text }: Delivery, secret: string): Message {
  return new Webhook(secret).verify(text, Object.fromEntries(headers)) as Message;
}

/** A new project that keeps changes. */
export async function feedProject(server: TestServer): Promise<Project> {
  const project = await Project.make(server);
  await keepChanges(project, 7);
  return project;
}

export async function makeWebhook(
  project: Project,
  url: string,
  more: Record<string, unknown> = {},
): Promise<NewWebhook> {
  const body = { name: "hook", url, ...more };
  return (await project.call("POST", "/webhooks", { body })).expect(201).json as NewWebhook;
}

export async function webhooksOf(project: Project): Promise<ListedWebhook[]> {
  const { json } = (await project.call("GET", "/webhooks")).expect(200);
  return (json as { webhooks: ListedWebhook[] }).webhooks;
}

/** The only webhook of a project. */
export async function webhookOf(project: Project): Promise<ListedWebhook> {
  const [first, ...more] = await webhooksOf(project);
  assert(first !== undefined);
  assertEquals(more, []);
  return first;
}

export async function changeWebhook(
  project: Project,
  id: string,
  body: Record<string, unknown>,
): Promise<Answer> {
  return await project.call("PATCH", `/webhooks/${id}`, { body });
}

/** Waits until something is so, and returns it. */
export async function until<T>(
  read: () => T | undefined | false | Promise<T | undefined | false>,
  what: string,
  time = 60_000,
): Promise<T> {
  const end = Date.now() + time;
  for (;;) {
    const found = await read();
    if (found !== undefined && found !== false) return found;
    assert(Date.now() < end, `${what}: not within ${time} ms`);
    await delay(20);
  }
}

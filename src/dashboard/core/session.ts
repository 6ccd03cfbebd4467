import { type ReadonlySignal, signal } from "@preact/signals";
import { ApiError, refused, unreachable } from "./api_error.ts";
import type { components } from "./api_schema.d.ts";
import { basePath } from "./server.ts";

type Schemas = components["schemas"];

/** Who is signed in, as `GET /dashboard/session` tells it. The credential itself is not in the page. */
export type Session = Schemas["Session"];

export type Permission = Session["permissions"][number];

const PATH = "/dashboard/session";

/** The reason for every 401: the session is the only credential that the page sends. */
const ENDED = "The session has ended: sign in again.";
const ENDED_ELSEWHERE = "You signed out in another tab.";

/** The channel in which a tab tells the others the id of a session that it has ended. */
const CHANNEL = "kvdrive.session";

/** The session of this browser. The server keeps it; the browser has a cookie that scripts cannot read. */
export class SessionStore {
  readonly #current = signal<Session | null>(null);
  /** The session; `null` without a sign-in. */
  readonly current: ReadonlySignal<Session | null> = this.#current;
  readonly #reason = signal("");
  /** Why the last session ended, for the sign-in page; empty if the user signed out. */
  readonly reason: ReadonlySignal<string> = this.#reason;

  readonly #tabs = new BroadcastChannel(CHANNEL);

  /** @param initial The session that the page came with. */
  constructor(initial: Session | null = null) {
    this.#current.value = initial;
    this.#tabs.onmessage = ({ data }) => {
      if (data === this.#current.value?.id) this.end(ENDED_ELSEWHERE);
    };
  }

  /** Whether the session has a permission everywhere that it may go. */
  may(permission: Permission): boolean {
    return this.#current.value?.permissions.includes(permission) ?? false;
  }

  get isAdministrator(): boolean {
    return this.#current.value?.role === "admin";
  }

  /** Loads the session that the browser has a cookie for. @throws {ApiError} */
  async load(): Promise<void> {
    const { session } = await call<Schemas["CurrentSession"]>("GET", PATH);
    this.#current.value = session;
  }

  /** Signs in with a project key, the administrator's token or a code. @throws {ApiError} */
  async signIn(secret: string): Promise<void> {
    const { session } = await call<Schemas["StartedSession"]>("POST", PATH, { secret });
    this.#reason.value = "";
    this.#current.value = session;
  }

  /** Signs out here, or of all browsers. @throws {ApiError} */
  async signOut(everywhere = false): Promise<void> {
    const path = everywhere ? "/dashboard/sessions" : PATH;
    const csrf = this.#current.value?.csrf ?? "";
    await call("DELETE", path, undefined, { "X-Kvdrive-Session": csrf }).catch((error) => {
      // A session that is over already needs no end.
      if (!(error instanceof ApiError && error.status === 401)) throw error;
    });
    this.#tabs.postMessage(this.#current.value?.id);
    this.end("");
  }

  /** Forgets the session, which is over. @param reason A sentence for the sign-in page. */
  end(reason: string = ENDED): void {
    this.#reason.value = reason;
    this.#current.value = null;
  }
}

/** Returns the session that the server wrote into the page; `null` if it was loaded without one. */
export function sessionInPage(document: Document): Session | null {
  const text = document.querySelector<HTMLMetaElement>('meta[name="kvdrive-session"]')?.content;
  return text === undefined ? null : JSON.parse(text);
}

async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<T> {
  const response = await fetch(basePath() + path, {
    method,
    cache: "no-store",
    headers: body === undefined ? headers : { ...headers, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw await refused(response);
  return await response.json();
}

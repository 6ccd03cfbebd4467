import createClient, { type Client, type Middleware } from "openapi-fetch";
import { refused, unreachable } from "./api_error.ts";
import type { Connection } from "./connection.ts";
import type { components, paths } from "./api_schema.d.ts";
import { serverAddress } from "./server.ts";
import type { SessionStore } from "./session.ts";

/**
 * The server's API, typed from its OpenAPI description. Every method throws an `ApiError` for an answer that is no
 * success, so `data` of what it returns is there: use it with `dataOf`.
 */
export type Api = Client<paths>;

export type Schemas = components["schemas"];

/** Makes the API's client. Its calls carry the session; one that is refused ends it. */
export function createApi(session: SessionStore, connection: Connection): Api {
  const client = createClient<paths>({ baseUrl: serverAddress(), cache: "no-store" });
  client.use(withSession(session, connection));
  return client;
}

/** Returns what a call answered. */
export async function dataOf<T>(call: Promise<{ data?: T }>): Promise<T> {
  const { data } = await call;
  // A failed call throws, so there is an answer, which may be empty.
  return data as T;
}

/**
 * Loads a list that the server sends page by page.
 *
 * @param read Loads a page. It gets where the page begins, as a part of its query.
 */
export async function* pagesOf<T extends { paging?: { last: string } }>(
  read: (from: { last?: string }) => Promise<{ data?: T }>,
): AsyncGenerator<T> {
  for (let from: { last?: string } | undefined = {}; from !== undefined;) {
    const page: T = await dataOf(read(from));
    yield page;
    from = page.paging;
  }
}

/** The header that shows that a request is from this page and not from another site. */
export const SESSION_HEADER = "X-Kvdrive-Session";

function withSession(session: SessionStore, connection: Connection): Middleware {
  return {
    onRequest({ request }) {
      const current = session.current.value;
      if (current !== null) request.headers.set(SESSION_HEADER, current.csrf);
      return request;
    },
    async onResponse({ request, response }) {
      const isFailing = failsForNow(response.status);
      if (!isFailing && response.status < 500) connection.succeeded();
      if (response.ok) return;
      const error = await refused(response);
      if (isFailing) connection.failed(response.status);
      const isCurrent = request.headers.get(SESSION_HEADER) === session.current.value?.csrf;
      if (response.status === 401 && isCurrent) session.end();
      throw error;
    },
    onError({ error, request }) {
      if (request.signal.aborted || isAbort(error)) return error as Error;
      connection.failed(0);
      return unreachable();
    },
  };
}

/** Whether an answer is of a server that has a problem, or of a proxy that wants fewer requests. A full disk stays full. */
function failsForNow(status: number): boolean {
  return status === 429 || status >= 500 && status !== 507;
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

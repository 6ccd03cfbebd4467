import { dataOf, SESSION_HEADER } from "../../core/api.ts";
import { ApiError, refused, unreachable } from "../../core/api_error.ts";
import type { App } from "../../core/context.ts";
import { basePath } from "../../core/server.ts";
import type { StoredPart } from "./parts.ts";

export interface UploadTarget {
  project: string;
  drive: string;
  /** The whole name in the drive. */
  name: string;
}

export interface Sending {
  signal: AbortSignal;
  /** Called with the bytes that were sent. */
  onProgress: (bytes: number) => void;
}

/** What is known about the file besides its bytes. */
export interface Attributes {
  /** Its media type; empty if the browser does not know it. */
  type: string;
  /** When it was last modified, in milliseconds since 1970. */
  lastModified: number;
}

/** Bytes of a small file: its request is too short for reports of its progress. */
export const SMALL = 128 * 1024;

/** The last moment that a time of the API can tell, in milliseconds. */
const LAST_TIME = Date.UTC(9999, 11, 31);

/** The calls of uploads. They throw `ApiError`. */
export class ServerCalls {
  constructor(private readonly app: Pick<App, "api" | "session" | "connection">) {}

  /** Stores a file, with its own media type, in one request. @param mayReplace Otherwise a file of that name is an error with status 412. */
  async put(
    target: UploadTarget,
    file: Blob,
    { mayReplace, lastModified, ...sending }: Sending & {
      mayReplace: boolean;
      lastModified: number;
    },
  ): Promise<void> {
    const query = queryOf({ name: target.name, ...mtimeOf(lastModified) });
    const headers = mayReplace ? {} : { "If-None-Match": "*" };
    await this.#send(`${pathOf(target)}/files?${query}`, file, { headers, ...sending });
  }

  /** Opens an upload in parts. Returns its id. */
  async start(
    target: UploadTarget,
    { type, lastModified }: Attributes,
    signal: AbortSignal,
  ): Promise<string> {
    const { upload_id } = await dataOf(
      this.app.api.POST("/v1/{project_id}/{drive_name}/uploads", {
        params: {
          path: placeOf(target),
          query: { name: target.name, ...mtimeOf(lastModified) },
        },
        headers: type === "" ? {} : { "Content-Type": type },
        signal,
      }),
    );
    return upload_id;
  }

  /** The parts that the server has; `undefined` if the upload is over. */
  async parts(
    target: UploadTarget,
    upload_id: string,
    signal: AbortSignal,
  ): Promise<StoredPart[] | undefined> {
    try {
      const { parts } = await dataOf(
        this.app.api.GET("/v1/{project_id}/{drive_name}/uploads/{upload_id}", {
          params: uploadOf(target, upload_id),
          signal,
        }),
      );
      return parts;
    } catch (error) {
      // It expired, or was completed or aborted.
      if (error instanceof ApiError && [404, 409].includes(error.status)) return undefined;
      throw error;
    }
  }

  async putPart(
    target: UploadTarget,
    upload: string,
    { part, body, ...sending }: Sending & { part: number; body: Blob },
  ): Promise<void> {
    const query = queryOf({ name: target.name, part });
    await this.#send(`${pathOf(target)}/uploads/${upload}/parts?${query}`, body, sending);
  }

  async complete(
    target: UploadTarget,
    upload_id: string,
    { mayReplace, signal }: { mayReplace: boolean; signal: AbortSignal },
  ): Promise<void> {
    await this.app.api.PATCH("/v1/{project_id}/{drive_name}/uploads/{upload_id}", {
      params: {
        ...uploadOf(target, upload_id),
        header: mayReplace ? {} : { "If-None-Match": "*" },
      },
      signal,
    });
  }

  async abort(target: UploadTarget, upload_id: string): Promise<void> {
    await this.app.api.DELETE("/v1/{project_id}/{drive_name}/uploads/{upload_id}", {
      params: uploadOf(target, upload_id),
    });
  }

  /**
   * Returns the ETag, without quotes, of the file of this name, size and time; `undefined` if there is none. So an upload
   * whose answer was lost is found.
   */
  async etagOf(
    target: UploadTarget,
    { size, lastModified }: Pick<File, "size" | "lastModified">,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { files = [] } = await dataOf(
      this.app.api.GET("/v1/{project_id}/{drive_name}/files", {
        params: { path: placeOf(target), query: { prefix: target.name, limit: 1, details: true } },
        signal,
      }),
    );
    const [file] = files;
    const isIt = file?.name === target.name && file.size === size &&
      file.mtime === mtimeOf(lastModified).mtime;
    return isIt ? file.etag : undefined;
  }

  async #send(
    path: string,
    body: Blob,
    sending: Sending & { headers?: HeadersInit },
  ): Promise<void> {
    const csrf = this.app.session.current.value?.csrf ?? "";
    const headers = new Headers(sending.headers);
    headers.set(SESSION_HEADER, csrf);
    sending.signal.throwIfAborted();
    const send = body.size <= SMALL ? sendAtOnce : sendWithProgress;
    const response = await send(path, body, { ...sending, headers });
    const { connection, session } = this.app;
    connection.succeeded();
    if (response.ok) return;
    const error = await refused(response);
    // The key of this session was revoked.
    if (response.status === 401 && csrf === session.current.value?.csrf) session.end();
    throw error;
  }
}

type Send = (
  path: string,
  body: Blob,
  sending: Sending & { headers: Headers },
) => Promise<Response>;

/** Many of these wait in the browser, and lists go before them. */
const sendAtOnce: Send = async (path, body, { headers, signal, onProgress }) => {
  try {
    const response = await fetch(path, {
      method: "POST",
      headers,
      body,
      signal,
      priority: "low",
    });
    const answer = await response.text();
    onProgress(body.size);
    return new Response(answer || null, response);
  } catch {
    signal.throwIfAborted();
    throw unreachable();
  }
};

/** Reports the progress, which `fetch` cannot. */
const sendWithProgress: Send = (path, body, { headers, signal, onProgress }) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    request.open("POST", path);
    for (const [name, value] of headers) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onProgress(Math.min(loaded, body.size));
    request.onloadend = () => signal.removeEventListener("abort", abort);
    request.onabort = () => reject(signal.reason);
    request.onerror = () => reject(unreachable());
    request.onload = () => {
      const { status, responseText } = request;
      const wait = request.getResponseHeader("Retry-After");
      const headers = wait === null ? {} : { "Retry-After": wait };
      resolve(new Response(responseText || null, { status, headers }));
    };
    signal.addEventListener("abort", abort);
    request.send(body);
  });

function placeOf({ project, drive }: UploadTarget): { project_id: string; drive_name: string } {
  return { project_id: project, drive_name: drive };
}

function uploadOf(target: UploadTarget, upload_id: string) {
  return { path: { ...placeOf(target), upload_id }, query: { name: target.name } };
}

function pathOf({ project, drive }: UploadTarget): string {
  return `${basePath()}/v1/${encodeURIComponent(project)}/${encodeURIComponent(drive)}`;
}

function queryOf(values: Record<string, string | number>): URLSearchParams {
  return new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/** The time of the file, unless the API cannot tell it. */
function mtimeOf(lastModified: number): { mtime?: string } {
  if (!(lastModified >= 0 && lastModified < LAST_TIME)) return {};
  return { mtime: new Date(lastModified).toISOString() };
}

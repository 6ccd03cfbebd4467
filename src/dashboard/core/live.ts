import { effect } from "@preact/signals";
import { SESSION_HEADER } from "./api.ts";
import { refused } from "./api_error.ts";
import type { Connection } from "./connection.ts";
import { hashOf } from "./router.ts";
import { basePath } from "./server.ts";
import type { SessionStore } from "./session.ts";

/** What is followed: a drive, or all drives of a project. */
export interface LiveScope {
  project: string;
  drive?: string;
}

/** The shortest time between two calls, and until a stream is opened, or opened again after its end, in milliseconds. */
const PAUSE = 1000;
/** Time until a stream is opened again that the server has no room for, in milliseconds. */
const NO_ROOM_PAUSE = 30_000;

/** Follows what others do: the server tells this page in one stream that something has changed, and nothing more. */
export class Live {
  constructor(
    private readonly session: SessionStore,
    private readonly connection: Connection,
  ) {}

  /**
   * Calls a function when something has changed, while the page is visible. What was loaded before the stream began may
   * be older, so it is called then, too.
   *
   * @param signal Ends this.
   */
  async follow(scope: LiveScope, onChange: () => void, signal: AbortSignal): Promise<void> {
    // What the view shows is loaded first.
    await rest(PAUSE, signal);
    let mark = "";
    const hear = (next: string, isChange: boolean) => {
      if (isChange || mark === "") onChange();
      mark = next;
    };
    while (!signal.aborted) {
      await until(() => this.connection.state.value === "online", signal);
      await visible(signal);
      if (signal.aborted) return;
      const pause = await this.#listen({ scope, mark, hear }, signal);
      if (pause === undefined) return;
      await rest(pause, signal);
    }
  }

  /** Listens until the stream ends. Returns the time until the next one; `undefined` if there is none. */
  async #listen(
    { scope: { project, drive }, mark, hear }: {
      scope: LiveScope;
      mark: string;
      hear: (mark: string, isChange: boolean) => void;
    },
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const current = this.session.current.peek();
    if (current === null) return undefined;
    // Browsers open six connections to a server: pages that nobody sees leave them to others.
    const hidden = new AbortController();
    const hide = () => document.hidden && hidden.abort();
    document.addEventListener("visibilitychange", hide, { signal: hidden.signal });
    const stop = AbortSignal.any([signal, hidden.signal]);
    let response: Response | undefined;
    try {
      const path = hashOf(["v1", project, "hints"], { drive, since: mark }).slice(1);
      response = await fetch(basePath() + path, {
        headers: { [SESSION_HEADER]: current.csrf },
        cache: "no-store",
        signal: stop,
      });
      if (!response.ok) return await this.#refused(response);
      await readEvents(response, hear);
    } catch {
      // A stream that breaks off is opened again. Without any answer, the connection tells when the server is back.
      if (!stop.aborted && response === undefined) this.connection.failed(0);
    } finally {
      hidden.abort();
    }
    return PAUSE;
  }

  async #refused(response: Response): Promise<number | undefined> {
    const { status, code } = await refused(response);
    if (code === "too_many_waiting") return NO_ROOM_PAUSE;
    if (status === 401) this.session.end();
    else if (status === 429 || status >= 500) this.connection.failed(status);
    else return undefined;
    return PAUSE;
  }
}

/** Reads a stream of server-sent events to its end. */
async function readEvents(
  { body }: Response,
  hear: (mark: string, isChange: boolean) => void,
): Promise<void> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const mark = /^id: (.+)$/m.exec(event)?.[1];
      if (mark !== undefined) hear(mark, event.includes("event: change"));
    }
  }
}

/** Waits until a condition that depends on signals holds. */
async function until(isTrue: () => boolean, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = effect(() => {
    if (isTrue()) resolve();
  });
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  stop();
}

function visible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!signal.aborted && document.hidden) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look, { once: true });
    look();
  });
}

function rest(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, time);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}

/** What a list may take of the time while things change without a break: one part in four. */
const REST_FACTOR = 3;

/**
 * Returns a function that runs another one soon: at once if it rests, otherwise again after it, one at a time, and no
 * sooner than after three times the time that it took.
 */
export function paced(run: () => Promise<unknown>, signal: AbortSignal): () => void {
  let isRunning = false;
  let isDue = false;
  const work = async () => {
    isDue = true;
    if (isRunning) return;
    isRunning = true;
    while (isDue && !signal.aborted) {
      isDue = false;
      const began = performance.now();
      await run();
      await rest(Math.max(PAUSE, REST_FACTOR * (performance.now() - began)), signal);
    }
    isRunning = false;
  };
  return () => void work();
}

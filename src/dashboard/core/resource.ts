import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./api_error.ts";
import { type Api, dataOf } from "./api.ts";
import { useApp } from "./context.ts";
import { type LiveScope, paced } from "./live.ts";

/** Data of the server, as a component sees it. */
export interface Resource<T> {
  /** The newest data; it stays while newer data is loaded or cannot be. */
  data: T | undefined;
  /** Why the last attempt failed. */
  error: unknown;
  /** Loads it again. Resolves when it was loaded, or could not be. */
  reload: () => Promise<void>;
  /** Changes the data that is shown then, which other calls may have changed meanwhile. */
  edit: (change: (data: T) => T) => void;
}

/**
 * Loads data of the server when a component appears, when a dependency changes, and when the server answers again after
 * it was out of reach. Data of other dependencies is dropped at once.
 */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  dependencies: readonly unknown[],
): Resource<T> {
  const { connection } = useApp();
  const [state, setState] = useState<{ data?: T | undefined; error?: unknown }>({});
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify(dependencies);
  const shown = useRef(key);
  const waiting = useRef<(() => void)[]>([]);
  const restored = connection.restored.value;

  useEffect(() => {
    const leaving = new AbortController();
    const isOther = shown.current !== key;
    shown.current = key;
    setState(({ data }) => ({ data: isOther ? undefined : data }));
    load(leaving.signal).then(
      (data) => leaving.signal.aborted || setState({ data }),
      (error) => leaving.signal.aborted || setState(({ data }) => ({ data, error })),
    ).then(() => {
      if (!leaving.signal.aborted) { for (const resolve of waiting.current.splice(0)) resolve(); }
    });
    return () => leaving.abort();
  }, [key, turn, restored]);

  return {
    data: state.data,
    error: state.error,
    reload: () =>
      new Promise((resolve) => {
        waiting.current.push(resolve);
        setTurn((turn) => turn + 1);
      }),
    edit: (change) =>
      setState(({ data, error }) => ({ data: data === undefined ? data : change(data), error })),
  };
}

/** Loads what a call of the API answers. */
export function useAnswer<T>(
  call: (api: Api, signal: AbortSignal) => Promise<{ data?: T }>,
  dependencies: readonly unknown[],
): Resource<T> {
  const { api } = useApp();
  return useResource((signal) => dataOf(call(api, signal)), dependencies);
}

/** A list that the server sends page by page, as far as it was loaded. */
export interface Pages<T> {
  items: readonly T[];
  /** Where the next page begins; absent at the end. */
  last?: string | undefined;
}

/**
 * Loads the first page of a list. Returns it with a function that loads the next one.
 *
 * @param read Loads a page. It gets where the page begins, as a part of its query.
 */
export function usePages<P extends { paging?: { last: string } }, T>(
  read: (api: Api, from: { last?: string }, signal: AbortSignal | null) => Promise<{ data?: P }>,
  itemsOf: (page: P) => readonly T[],
  dependencies: readonly unknown[],
): [list: Resource<Pages<T>>, loadMore: () => Promise<void>] {
  const { api } = useApp();
  const load = async (from: { last?: string }, signal: AbortSignal | null) => {
    const page = await dataOf(read(api, from, signal));
    return { items: itemsOf(page), last: page.paging?.last };
  };
  const list = useResource((signal): Promise<Pages<T>> => load({}, signal), dependencies);
  const loadMore = async () => {
    const last = list.data?.last;
    const next = await load(last === undefined ? {} : { last }, null);
    // The list may have been loaded again meanwhile: then the page does not continue it.
    list.edit((now) => now.last === last ? { ...next, items: [...now.items, ...next.items] } : now);
  };
  return [list, loadMore];
}

/** Loads again what a view shows whenever others change something. */
export function useLive({ project, drive }: LiveScope, reload: () => Promise<unknown>): void {
  const { live, session } = useApp();
  const latest = useRef(reload);
  latest.current = reload;
  useEffect(() => {
    if (!session.may("list")) return;
    const leaving = new AbortController();
    const { signal } = leaving;
    const scope = drive === undefined ? { project } : { project, drive };
    void live.follow(scope, paced(() => latest.current(), signal), signal);
    return () => leaving.abort();
  }, [project, drive]);
}

/** Whether the page will try again by itself. */
export function isRecovering(error: unknown): boolean {
  return error instanceof ApiError && error.isTemporary;
}

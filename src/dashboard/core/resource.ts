import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./api_error.ts";
import { type Api, dataOf } from "./api.ts";
import { useApp } from "./context.ts";

/** Data of the server, as a component sees it. */
export interface Resource<T> {
  /** The newest data; it stays while newer data is loaded or cannot be. */
  data: T | undefined;
  /** Why the last attempt failed. */
  error: unknown;
  isLoading: boolean;
  /** Loads again. */
  reload: () => void;
  /** Shows other data at once, such as after a change that the server confirmed. */
  set: (data: T) => void;
  /** Changes the data that is shown then, which other calls may have changed meanwhile. */
  edit: (change: (data: T) => T) => void;
}

interface State<T> {
  data: T | undefined;
  error: unknown;
  isLoading: boolean;
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
  const [state, setState] = useState<State<T>>({
    data: undefined,
    error: undefined,
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify(dependencies);
  const shown = useRef(key);
  const restored = connection.restored.value;

  useEffect(() => {
    const leaving = new AbortController();
    const isOther = shown.current !== key;
    shown.current = key;
    setState(({ data }) => ({
      data: isOther ? undefined : data,
      error: undefined,
      isLoading: true,
    }));
    load(leaving.signal).then(
      (data) => leaving.signal.aborted || setState({ data, error: undefined, isLoading: false }),
      (error) => {
        if (leaving.signal.aborted) return;
        setState(({ data }) => ({ data, error, isLoading: false }));
      },
    );
    return () => leaving.abort();
  }, [key, turn, restored]);

  return {
    ...state,
    reload: () => setTurn((turn) => turn + 1),
    set: (data) => setState({ data, error: undefined, isLoading: false }),
    edit: (change) =>
      setState(({ data, ...state }) => ({
        ...state,
        data: data === undefined ? data : change(data),
      })),
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

/** Loads the first page of a list. Returns it with a function that loads the next one. */
export function usePages<T>(
  load: (last: string | undefined, signal?: AbortSignal) => Promise<Pages<T>>,
  dependencies: readonly unknown[],
): [list: Resource<Pages<T>>, loadMore: () => Promise<void>] {
  const list = useResource((signal) => load(undefined, signal), dependencies);
  const loadMore = async () => {
    const { items, last } = await load(list.data?.last);
    list.set({ items: [...list.data?.items ?? [], ...items], last });
  };
  return [list, loadMore];
}

/** Whether the page will try again by itself. */
export function isRecovering(error: unknown): boolean {
  return error instanceof ApiError && error.isTemporary;
}

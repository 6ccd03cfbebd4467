import type { Signal } from "@preact/signals";
import { type Context, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Api } from "./api.ts";
import type { Connection } from "./connection.ts";
import type { Live } from "./live.ts";
import type { Overlays } from "./overlays.ts";
import type { Router } from "./router.ts";
import type { SessionStore } from "./session.ts";
import type { Theme } from "./theme.ts";
import type { Toasts } from "./toasts.ts";

/** What every part of the page works with. */
export interface App {
  session: SessionStore;
  api: Api;
  connection: Connection;
  live: Live;
  router: Router;
  toasts: Toasts;
  overlays: Overlays;
  theme: Signal<Theme>;
}

export const [AppContext, useApp] = createShared<App>("AppContext");

/** Makes a context, and the hook that returns its value to the components within. */
export function createShared<T>(name: string): [Context<T | undefined>, () => T] {
  const context = createContext<T | undefined>(undefined);
  return [context, () => {
    const value = useContext(context);
    if (value === undefined) throw new Error(`There is no ${name} around this component`);
    return value;
  }];
}

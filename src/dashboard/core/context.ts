import type { Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Api } from "./api.ts";
import type { Connection } from "./connection.ts";
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
  router: Router;
  toasts: Toasts;
  overlays: Overlays;
  theme: Signal<Theme>;
}

export const AppContext = createContext<App | undefined>(undefined);

/** Returns the page's parts. To be called while a component renders. */
export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error("There is no AppContext around this component");
  return app;
}

/**
 * The dashboard. Its libraries, and what each does better than own code: Preact with signals (rendering), openapi-fetch
 * (calls typed by the OpenAPI description), lucide (icons as data), marked (the lexer of Markdown; its tokens become
 * elements, so no text becomes HTML). Dialogs, the focus in them and popovers are the browser's own.
 *
 * @module
 */
import { render } from "preact";
import { createApi } from "./core/api.ts";
import { Connection } from "./core/connection.ts";
import { type App, AppContext } from "./core/context.ts";
import { Live } from "./core/live.ts";
import { Overlays } from "./core/overlays.ts";
import { Router } from "./core/router.ts";
import { sessionInPage, SessionStore } from "./core/session.ts";
import { createTheme } from "./core/theme.ts";
import { Toasts } from "./core/toasts.ts";
import { Root } from "./shell/root.tsx";

function main(): void {
  const page = document.getElementById("page");
  if (page === null) return;
  const session = new SessionStore(sessionInPage(document));
  const connection = new Connection();
  const app: App = {
    session,
    connection,
    live: new Live(session, connection),
    api: createApi(session, connection),
    router: new Router(),
    toasts: new Toasts(),
    overlays: new Overlays(),
    theme: createTheme(localStorage),
  };
  render(
    <AppContext.Provider value={app}>
      <Root />
    </AppContext.Provider>,
    page,
  );
}

main();

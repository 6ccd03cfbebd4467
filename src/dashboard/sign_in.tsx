import { render } from "preact";
import { SessionStore } from "./core/session.ts";
import { createTheme } from "./core/theme.ts";
import { codeIn, SignIn } from "./shell/sign_in.tsx";

/**
 * The page for those who are not signed in. It is small; the rest of the dashboard is loaded after the sign-in, in its place.
 */
function main(): void {
  const page = document.getElementById("page");
  const rest = document.querySelector<HTMLMetaElement>('meta[name="kvdrive-main"]')?.content;
  if (page === null || rest === undefined) return;
  const session = new SessionStore();
  createTheme(localStorage);
  const enter = async () => {
    render(null, page);
    try {
      await import(rest);
    } catch {
      // The server was updated meanwhile: the page of the session names the present files.
      location.reload();
    }
  };
  // Once: a session that was asked for earlier may be found only after the sign-in.
  const stop = session.current.subscribe((current) => {
    if (current === null) return;
    stop();
    void enter();
  });
  render(<SignIn session={session} />, page);
  // A visit through a link of another site comes without the cookie.
  if (codeIn(location.hash) === undefined) session.load().catch(() => {});
}

main();

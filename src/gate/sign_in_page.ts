import { createHash } from "node:crypto";
import type { OwnAnswer } from "./own_answer.ts";

/** How the gate's own pages look. */
export const STYLE = `
:root { color-scheme: light dark; --line: #767676; --accent: #0b57d0; --on-accent: #fff; --wrong: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --line: #8e8e8e; --accent: #a8c7fa; --on-accent: #062e6f; --wrong: #f2b8b5; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1.5rem 1rem; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 22rem; margin: 8vh auto 0; }
h1 { margin: 0 0 1rem; font-size: 1.375rem; line-height: 1.25; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; }
.wrong { color: var(--wrong); }
label { display: block; margin: 0 0 .25rem; font-weight: 600; }
input, button { width: 100%; min-height: 2.75rem; border-radius: .375rem; font: inherit; }
input { padding: 0 .75rem; border: 1px solid var(--line); }
button { margin-top: 1rem; border: 0; background: var(--accent); color: var(--on-accent); font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** The headers of the gate's own pages, which run no scripts. */
export const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  // A page that opened this one in a window of its own must not reach into it.
  "Cross-Origin-Opener-Policy": "same-origin",
  // With "no-referrer" a browser would send the form with "Origin: null", which says nothing.
  "Referrer-Policy": "same-origin",
  "X-Frame-Options": "DENY",
};

/** What the page is made from. */
export interface SignInForm {
  /** The application's name. */
  app: string;
  prefix: string;
  /** Where the browser goes afterwards. */
  next: string;
  /** What was wrong with the last try. */
  problem?: string;
}

/** The gate's sign-in form. */
export function signInPage(
  status: number,
  { app, prefix, next, problem }: SignInForm,
  headers: Record<string, string> = {},
): OwnAnswer {
  const wrong = problem === undefined
    ? ""
    : `<p class="wrong" id="problem" role="alert">${escape(problem)}</p>\n`;
  const described = problem === undefined ? "" : ' aria-invalid="true" aria-describedby="problem"';
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Sign in to ${escape(app)}</title>
<style>${STYLE}</style>
<main>
<h1>Sign in to ${escape(app)}</h1>
<p>Only the owner of this application can come in here, with the project key.</p>
${wrong}<form method="post" action="${escape(prefix)}/.kvdrive/sign-in">
<label for="key">Project key</label>
<input id="key" name="key" type="password" autocomplete="current-password" autocapitalize="off" spellcheck="false" required autofocus${described}>
<input type="hidden" name="next" value="${escape(next)}">
<button>Sign in</button>
</form>
</main>
</html>
`;
  return { status, headers: { ...PAGE_HEADERS, ...headers }, body };
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A text as HTML shows it. */
export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

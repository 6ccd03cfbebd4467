import { escape, PAGE_HEADERS, STYLE } from "./sign_in_page.ts";

/** Whether a browser navigates, so that a person reads the answer: "`GET`, `Accept: text/html`". */
export function isNavigation(
  { method, accept }: { method: string; accept: string | undefined },
): boolean {
  return method === "GET" && (accept?.toLowerCase().includes("text/html") ?? false);
}

/**
 * A page that says what went wrong.
 *
 * @param message What happened, and after a colon what to do.
 */
export function errorPage(
  status: number,
  message: string,
): { headers: Record<string, string>; body: string } {
  const [, what = message, advice] = /^(.*?): (.*)$/.exec(message) ?? [];
  const more = advice === undefined
    ? ""
    : `<p>${escape(advice.charAt(0).toUpperCase() + advice.slice(1))}.</p>\n`;
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escape(what)}</title>
<style>${STYLE}</style>
<main>
<h1>${escape(what)}</h1>
${more}<p>Error ${status}</p>
</main>
</html>
`;
  return { headers: PAGE_HEADERS, body };
}

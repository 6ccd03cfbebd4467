import { createUploads } from "../files/upload_queue.js";
import { createApi } from "./api.js";
import { fill, h } from "./dom.js";
import { createHeader } from "./header.js";
import { Router } from "./router.js";

/** @import { Context } from "./types.d.ts" */

/**
 * What stands around every view: the header, and the uploads, which go on whatever view is open.
 *
 * @param {HTMLElement} page
 * @param {Pick<Context, "session" | "notices">} parts
 * @returns {{close(): void}}
 */
export function openShell(page, { session, notices }) {
  const api = createApi(session);
  const uploads = createUploads(api, notices);
  const outlet = h("main", { id: "main", tabindex: "-1" });
  const header = createHeader({ session, api });
  const router = new Router(
    outlet,
    { session, notices, api, uploads },
    (route) => header.mark(route),
  );
  const leaving = new AbortController();
  uploads.subscribe(() => header.count(uploads.totals().open), leaving.signal);
  for (const sheet of ["views", "files"]) addStyles(`/dashboard/styles/${sheet}.css`);
  fill(page, skipLink(outlet), header.element, outlet);
  router.start();
  return {
    close() {
      router.stop();
      header.close();
      leaving.abort();
      uploads.close();
    },
  };
}

/** Lets the keyboard pass over the header. A link would change the address. @param {HTMLElement} outlet */
function skipLink(outlet) {
  return h("button", {
    type: "button",
    class: "skip",
    on: { click: () => outlet.focus() },
  }, "Skip to the content");
}

/** What the sign-in needs no styles of is not loaded before. @param {string} href */
function addStyles(href) {
  if (document.querySelector(`link[href="${href}"]`) !== null) return;
  document.head.append(h("link", { rel: "stylesheet", href }));
}

import { createUploads } from "../files/upload_queue.js";
import { createApi } from "./api.js";
import { fill, h } from "./dom.js";
import { createHeader } from "./header.js";
import { Router } from "./router.js";

/** @import { Context } from "./types.d.ts" */

/**
 * The frame around every view: the header, and the uploads, which continue when the view changes.
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

/** A skip link over the header. It is a button, because a link would change the address. @param {HTMLElement} outlet */
function skipLink(outlet) {
  return h("button", {
    type: "button",
    class: "skip",
    on: { click: () => outlet.focus() },
  }, "Skip to the content");
}

import { h } from "../core/dom.js";
import { icon } from "../core/icon.js";
import { addressOf } from "./app_address.js";

/** @import { Application, GatePlace } from "../core/types.d.ts" */

/**
 * A link that opens an application in a new tab, without a referrer.
 *
 * @param {Application} app
 * @param {GatePlace | null} gate
 * @param {string} [text] The address by default.
 * @returns {HTMLElement}
 */
export function appLink(app, gate, text) {
  const address = addressOf(app, gate, location.hostname);
  if (address === undefined) return h("span", { class: "soft" }, "the gate is off");
  if (app.upstream === null) return h("span", { class: "soft" }, "no upstream yet");
  const hidden = text === undefined
    ? null
    : h("span", { class: "visually-hidden" }, ` ${app.name}`);
  return h(
    "a",
    { href: address, target: "_blank", rel: "noopener noreferrer", class: "outward" },
    text ?? address,
    hidden,
    icon("open"),
  );
}

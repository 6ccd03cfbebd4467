import { clientsOf, PLACEHOLDER } from "../connect/snippets.js";
import { copyButton, copyField } from "../core/copy.js";
import { fill, h } from "../core/dom.js";
import { links } from "../core/links.js";

/** @import { Client, Snippet } from "../connect/snippets.js" */
/** @import { Context, Params, View } from "../core/types.d.ts" */

const SHOW = "Show my key in the lines below";
const HIDE = "Hide my key";

/**
 * How programs connect to the project.
 *
 * @param {Context} context
 * @param {Params} params
 * @returns {View}
 */
export function open(context, { project }) {
  const own = keyOf(context, project);
  const clients = h("div", { class: "view" });
  const show = (key = PLACEHOLDER) => {
    const { origin, host, protocol } = location;
    const place = { origin, host, isSecure: protocol === "https:", project, key };
    fill(clients, clientsOf(place).map(clientSection));
  };
  show();
  const element = h(
    "div",
    { class: "view" },
    h("h1", {}, "Connect"),
    h(
      "section",
      { class: "section" },
      h("h2", {}, "Connection details"),
      copyField("Address of the server", location.origin),
      copyField("Project id", project),
      own === undefined ? keyHint(project) : keySwitch(own, show),
    ),
    clients,
  );
  return { title: `Connect to ${project}`, element };
}

/** The project key of the session. @param {Context} context @param {string} project */
function keyOf({ session }, project) {
  const { credentials } = session;
  return credentials?.kind === "project" && credentials.project === project
    ? credentials.secret
    : undefined;
}

/** @param {string} project */
function keyHint(project) {
  return h(
    "p",
    { class: "soft" },
    `Replace ${PLACEHOLDER} by the project key. It was shown when it was created; `,
    h("a", { href: links.project(project) }, "create another"),
    " if it is lost.",
  );
}

/** @param {string} key @param {(key?: string) => void} show */
function keySwitch(key, show) {
  let isShown = false;
  const button = h("button", { type: "button" }, SHOW);
  button.addEventListener("click", () => {
    isShown = !isShown;
    button.textContent = isShown ? HIDE : SHOW;
    show(isShown ? key : undefined);
  });
  const hint = `Until then, the lines contain ${PLACEHOLDER}.`;
  return h("div", { class: "section" }, h("div", {}, button), h("p", { class: "hint" }, hint));
}

/** @param {Client} client */
function clientSection({ id, title, notes, snippets }) {
  return h(
    "section",
    { class: "section", "aria-labelledby": `connect-${id}` },
    h("h2", { id: `connect-${id}` }, title),
    notes.map((note) => h("p", { class: "soft" }, note)),
    snippets.map((snippet) => block(title, snippet)),
  );
}

/** @param {string} title @param {Snippet} snippet */
function block(title, { label, text }) {
  const name = `${title}: ${label}`;
  return h(
    "div",
    { class: "snippet" },
    h(
      "div",
      { class: "snippet-head" },
      h("span", {}, label),
      copyButton(text, { hidden: `the lines for ${name}` }),
    ),
    // It scrolls sideways, so it must be focusable.
    h("pre", { tabindex: "0", role: "region", "aria-label": name }, h("code", {}, text)),
  );
}

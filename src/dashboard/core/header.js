import { fill, h } from "./dom.js";
import { links } from "./links.js";

/** @import { Context } from "./types.d.ts" */
/** @import { Route, Section } from "./routes.js" */

/** @type {[Section, string, (project: string) => string][]} */
const SECTIONS = [
  ["files", "Files", links.drives],
  ["uploads", "Uploads", links.uploads],
  ["apps", "Applications", links.applications],
  ["project", "Keys & usage", links.project],
  ["connect", "Connect", links.connect],
];

/**
 * The header: project, sections, sign-out.
 *
 * @param {Pick<Context, "session" | "api">} context
 */
export function createHeader({ session, api }) {
  const leaving = new AbortController();
  const switcher = h("div", { class: "switcher" });
  const sections = h("ul");
  const nav = h("nav", { "aria-label": "Project" }, sections);
  const out = h("button", { type: "button", on: { click: () => signOut(session) } }, "Sign out");
  const home = h("a", { class: "brand", href: "#/" }, "kvdrive");
  let running = 0;
  const element = h(
    "header",
    { class: "top" },
    h("div", { class: "top-row" }, home, switcher, out),
    nav,
  );
  return {
    element,
    /** Marks the open section. @param {Route | undefined} route */
    mark(route) {
      const project = route?.params.project ?? "";
      nav.hidden = project === "";
      fill(sections, SECTIONS.map((one) => sectionLink(one, project, route?.section)));
      showCount(sections, running);
      if (session.isAdministrator) fillSwitcher(switcher, project, api, leaving.signal);
      else fill(switcher, h("span", { class: "project-name" }, project));
    },
    /** Shows the number of running uploads of this tab. @param {number} uploads */
    count(uploads) {
      running = uploads;
      showCount(sections, running);
    },
    close() {
      leaving.abort();
    },
  };
}

/** The next session starts at the first page. @param {Context["session"]} session */
function signOut(session) {
  history.replaceState(null, "", "/");
  session.end();
}

/**
 * @param {[Section, string, (project: string) => string]} section
 * @param {string} project
 * @param {Section | undefined} open
 */
function sectionLink([section, label, link], project, open) {
  const current = section === open ? "page" : undefined;
  return h(
    "li",
    {},
    h("a", { href: link(project), "aria-current": current, "data-section": section }, label),
  );
}

/** @param {HTMLElement} sections @param {number} running */
function showCount(sections, running) {
  const link = sections.querySelector('a[data-section="uploads"]');
  if (link === null) return;
  const badge = h(
    "span",
    { class: "badge" },
    running,
    h("span", { class: "visually-hidden" }, " running"),
  );
  fill(link, "Uploads", running > 0 ? [" ", badge] : null);
}

/**
 * The project selector. It shows the current project at once and the others when they are loaded.
 *
 * @param {HTMLElement} box @param {string} project @param {Context["api"]} api @param {AbortSignal} signal
 */
async function fillSwitcher(box, project, api, signal) {
  const select = h("select", { "aria-label": "Project" });
  setOptions(select, project === "" ? [] : [project], project);
  select.addEventListener("change", () => {
    location.hash = select.value === "" ? links.projects() : links.project(select.value);
  });
  fill(box, select);
  try {
    const { projects } = await api.listProjects(signal);
    // The user may be choosing already.
    if (document.activeElement === select) return;
    setOptions(select, projects.map(({ project_id }) => project_id), project);
  } catch {
    // The open view shows the error.
  }
}

/** @param {HTMLSelectElement} select @param {string[]} projects @param {string} open */
function setOptions(select, projects, open) {
  const all = projects.includes(open) || open === "" ? projects : [open, ...projects];
  fill(
    select,
    h("option", { value: "" }, "All projects"),
    all.map((one) => h("option", { value: one, selected: one === open }, one)),
  );
}

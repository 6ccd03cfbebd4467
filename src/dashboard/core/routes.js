/** @import { OpenView, Params } from "./types.d.ts" */

/** @typedef {"projects" | "project" | "files" | "uploads" | "apps" | "connect"} Section */
/** @typedef {{section: Section, params: Params, load: () => Promise<{open: OpenView}>}} Route */

/** Views are loaded when they are first opened. */
const VIEWS = {
  projects: () => import("../views/projects.js"),
  project: () => import("../views/project.js"),
  files: () => import("../views/files.js"),
  uploads: () => import("../views/uploads.js"),
  apps: () => import("../views/applications.js"),
  application: () => import("../views/application.js"),
  connect: () => import("../views/connect.js"),
};

const NOTHING = { project: "", drive: "", path: "", app: "" };

/**
 * Finds the view of an address.
 *
 * @param {string} hash With its `#`, percent-encoded.
 * @returns {Route | undefined} `undefined` for an unknown address.
 */
export function findRoute(hash) {
  const segments = decodeAll(hash.replace(/^#\/?/, ""));
  if (segments === undefined) return undefined;
  const [first, project = "", section = "project", ...rest] = segments;
  if (first === "projects" && segments.length === 1) {
    return { section: "projects", params: NOTHING, load: VIEWS.projects };
  }
  if (first !== "p" || project === "") return undefined;
  return below({ ...NOTHING, project }, section, rest);
}

/** @param {Params} params @param {string} section @param {string[]} rest @returns {Route | undefined} */
function below(params, section, rest) {
  const [name = "", ...path] = rest;
  if (section === "files") {
    return { section, params: { ...params, drive: name, path: path.join("/") }, load: VIEWS.files };
  }
  if (section === "apps" && rest.length === 1 && name !== "") {
    return { section, params: { ...params, app: name }, load: VIEWS.application };
  }
  if (rest.length > 0) return undefined;
  switch (section) {
    case "project":
    case "uploads":
    case "apps":
    case "connect":
      return { section, params, load: VIEWS[section] };
    default:
      return undefined;
  }
}

/** @param {string} path @returns {string[] | undefined} */
function decodeAll(path) {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch {
    // The address was typed in by hand.
    return undefined;
  }
}

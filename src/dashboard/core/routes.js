import * as application from "../views/application.js";
import * as applications from "../views/applications.js";
import * as connect from "../views/connect.js";
import * as files from "../views/files.js";
import * as project from "../views/project.js";
import * as projects from "../views/projects.js";
import * as uploads from "../views/uploads.js";

/** @import { OpenView, Params } from "./types.d.ts" */

/** @typedef {"projects" | "project" | "files" | "uploads" | "apps" | "connect"} Section */
/** @typedef {{section: Section, params: Params, open: OpenView}} Route */

/** The views of the sections. */
const VIEWS = {
  project: project.open,
  uploads: uploads.open,
  apps: applications.open,
  connect: connect.open,
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
    return { section: "projects", params: NOTHING, open: projects.open };
  }
  if (first !== "p" || project === "") return undefined;
  return below({ ...NOTHING, project }, section, rest);
}

/** @param {Params} params @param {string} section @param {string[]} rest @returns {Route | undefined} */
function below(params, section, rest) {
  const [name = "", ...path] = rest;
  if (section === "files") {
    return { section, params: { ...params, drive: name, path: path.join("/") }, open: files.open };
  }
  if (section === "apps" && rest.length === 1 && name !== "") {
    return { section, params: { ...params, app: name }, open: application.open };
  }
  if (rest.length > 0) return undefined;
  switch (section) {
    case "project":
    case "uploads":
    case "apps":
    case "connect":
      return { section, params, open: VIEWS[section] };
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

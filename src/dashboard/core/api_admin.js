import { pathOf } from "./call.js";

/** @import { Calls } from "./call.js" */
/** @import * as T from "./types.d.ts" */

/**
 * The administration: projects, their keys and applications.
 *
 * @param {Calls} calls
 */
export function adminCalls(calls) {
  return { ...projectCalls(calls), ...keyCalls(calls), ...appCalls(calls), ...appKeyCalls(calls) };
}

/** @param {...string} rest */
function at(...rest) {
  return pathOf("admin", "v1", "projects", ...rest);
}

/** @param {Calls} calls */
function projectCalls(calls) {
  return {
    /** @param {AbortSignal} [signal] @returns {Promise<{projects: T.Project[], disk: T.Disk, integrity: T.Integrity, backups?: T.Backups}>} */
    listProjects: (signal) => calls.json("GET", at(), { signal }),
    /** @param {{name?: string, project_id?: string, max_bytes?: number | null}} fields @returns {Promise<T.NewProject>} */
    createProject: (fields) => calls.json("POST", at(), { body: fields }),
    /** @param {string} project @param {AbortSignal} [signal] @returns {Promise<T.ProjectDetails>} */
    showProject: (project, signal) => calls.json("GET", at(project), { signal }),
    /** @param {string} project @param {{max_bytes: number | null}} fields @returns {Promise<T.ProjectDetails>} */
    changeProject: (project, fields) => calls.json("PATCH", at(project), { body: fields }),
    /** @param {string} project @returns {Promise<unknown>} */
    deleteProject: (project) => calls.json("DELETE", at(project)),
    /** @param {string} project @param {string} drive @returns {Promise<unknown>} */
    deleteDrive: (project, drive) => calls.json("DELETE", at(project, "drives", drive)),
  };
}

/** @param {Calls} calls */
function keyCalls(calls) {
  return {
    /** @param {string} project @param {AbortSignal} [signal] @returns {Promise<{keys: T.ProjectKey[]}>} */
    listKeys: (project, signal) => calls.json("GET", at(project, "keys"), { signal }),
    /** @param {string} project @param {{name?: string}} fields @returns {Promise<T.NewProjectKey>} */
    createKey: (project, fields) => calls.json("POST", at(project, "keys"), { body: fields }),
    /** @param {string} project @param {string} prefix @returns {Promise<unknown>} */
    revokeKey: (project, prefix) => calls.json("DELETE", at(project, "keys", prefix)),
  };
}

/** @param {Calls} calls */
function appCalls(calls) {
  return {
    /**
     * @param {string} project @param {AbortSignal} [signal]
     * @returns {Promise<{apps: T.Application[], gate: T.GatePlace | null}>}
     */
    listApps: (project, signal) => calls.json("GET", at(project, "apps"), { signal }),
    /**
     * @param {string} project @param {{name: string, upstream?: string, host?: string}} fields
     * @returns {Promise<T.Application>}
     */
    createApp: (project, fields) => calls.json("POST", at(project, "apps"), { body: fields }),
    /** @param {string} project @param {string} app @param {AbortSignal} [signal] @returns {Promise<T.Application>} */
    showApp: (project, app, signal) => calls.json("GET", at(project, "apps", app), { signal }),
    /**
     * @param {string} project @param {string} app
     * @param {{upstream?: string | null, host?: string | null}} fields
     * @returns {Promise<T.Application>}
     */
    changeApp: (project, app, fields) =>
      calls.json("PATCH", at(project, "apps", app), { body: fields }),
    /** @param {string} project @param {string} app @returns {Promise<unknown>} */
    deleteApp: (project, app) => calls.json("DELETE", at(project, "apps", app)),
    /** @param {string} project @param {string} app @param {boolean} enabled @returns {Promise<{enabled: boolean}>} */
    switchAccess: (project, app, enabled) =>
      calls.json("PUT", at(project, "apps", app, "access"), { body: { enabled } }),
  };
}

/** @param {Calls} calls */
function appKeyCalls(calls) {
  return {
    /** @param {string} project @param {string} app @param {AbortSignal} [signal] @returns {Promise<{keys: T.AppKey[]}>} */
    listAppKeys: (project, app, signal) =>
      calls.json("GET", at(project, "apps", app, "keys"), { signal }),
    /**
     * @param {string} project @param {string} app @param {{name: string, description?: string}} fields
     * @returns {Promise<T.NewAppKey>}
     */
    createAppKey: (project, app, fields) =>
      calls.json("POST", at(project, "apps", app, "keys"), { body: fields }),
    /** @param {string} project @param {string} app @param {string} name @returns {Promise<unknown>} */
    revokeAppKey: (project, app, name) =>
      calls.json("DELETE", at(project, "apps", app, "keys", name)),
  };
}

/** @import { Application, GatePlace } from "../core/types.d.ts" */

/**
 * Where callers find an application: by its own host name, or by path on the gate's port.
 *
 * @param {Application} app
 * @param {GatePlace | null} gate
 * @param {string} hostname The host name under which this page was loaded.
 * @returns {string | undefined} `undefined` without a gate.
 */
export function addressOf({ name, project_id, host }, gate, hostname) {
  if (gate === null) return undefined;
  const { scheme, port } = gate;
  return host === null
    ? `${scheme}://${hostname}:${port}/${project_id}/${name}/`
    : `${scheme}://${host}:${port}/`;
}

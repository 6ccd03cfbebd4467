import { adminCalls } from "./api_admin.js";
import { fileCalls } from "./api_files.js";
import { Calls } from "./call.js";

export { ApiError } from "./api_error.js";

/** @import { Session } from "./session.js" */
/** @typedef {ReturnType<typeof createApi>} Api */

/**
 * All API calls of the page. Each throws an `ApiError` with the server's
 * sentence if it is refused, and the signal's reason if it was aborted. 401 ends the session.
 *
 * @param {Session} session
 */
export function createApi(session) {
  const calls = new Calls(session);
  return { ...adminCalls(calls), ...fileCalls(calls) };
}

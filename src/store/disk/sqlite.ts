import { SECOND } from "../../rules/units.ts";

/** How long a locked database is tried again before the answer is 503. */
export const LOCKED_RETRY_TIME = 5 * SECOND;

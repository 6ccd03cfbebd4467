import type { Store } from "../store/store.ts";
import { WrongKeyLimiter } from "./network/wrong_keys.ts";
import { RequestContext, RequestObserver } from "./request_context.ts";
import type { ServerParts } from "./server_parts.ts";
import { RunningUploads, UploadSlots } from "./store_body.ts";

export function someContext(): RequestContext {
  return new RequestContext("r1", "GET", 0);
}

/** The parts of a server on this store. */
export function testParts(store: Store): ServerParts {
  return {
    store,
    corsOrigins: "*",
    idleTimeout: 60_000,
    slots: new UploadSlots({ max: 64, maxWait: 60_000 }),
    uploadPace: undefined,
    running: new RunningUploads(),
    wrongKeys: new WrongKeyLimiter(),
    trustedProxies: undefined,
    isDraining: () => false,
    observer: new RequestObserver({ begin() {}, end() {} }),
    onError: () => {},
  };
}

import type { Store } from "../store/store.ts";
import type { Pace } from "./body.ts";
import type { CorsOrigins } from "./browser_headers.ts";
import type { TrustedProxies } from "./network/client_address.ts";
import type { WrongKeyLimiter } from "./network/wrong_keys.ts";
import type { RequestObserver } from "./request_context.ts";
import type { RunningUploads, UploadSlots } from "./store_body.ts";

/** The parts of the server that the drive API and the S3 API share. */
export interface ServerParts {
  store: Store;
  corsOrigins: CorsOrigins;
  /** How long a body may send no byte and a reader may take none, in milliseconds. */
  idleTimeout: number;
  slots: UploadSlots;
  /** The slowest rate of a body that is stored; absent if there is no limit. */
  uploadPace: Pace | undefined;
  running: RunningUploads;
  wrongKeys: WrongKeyLimiter;
  /** Proxies whose `X-Forwarded-For` is trusted, if any. */
  trustedProxies: TrustedProxies | undefined;
  /** Whether the server is shutting down and accepts no new work. */
  isDraining: () => boolean;
  observer: RequestObserver;
  /** Reports defects and damage, with the id of the request. */
  onError: (error: unknown, requestId: string) => void;
}

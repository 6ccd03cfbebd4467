import type { CertificateStatus } from "../../acme/certificate_entry.ts";
import type { Deps } from "../../api/endpoint.ts";
import { Readiness } from "../../api/server/health.ts";
import { WrongKeyLimiter } from "../../http/network/wrong_keys.ts";
import { UploadSlots } from "../../http/upload_slots.ts";
import { hashSecret } from "../../rules/secrets.ts";
import { VERSION } from "../../version.ts";
import type { ServeOptions } from "../options/serve_options.ts";
import type { Observation } from "./observation.ts";

/** The least time, in milliseconds, before the average rate of an upload is checked. */
const UPLOAD_GRACE = 30_000;

/** The dependencies that differ between a server of its own and Deno Deploy. */
type PlatformDeps =
  & Pick<
    Deps,
    | "store"
    | "dashboard"
    | "volume"
    | "backups"
    | "gate"
    | "s3"
    | "hosts"
    | "upstreamRules"
    | "running"
    | "wrongKeys"
    | "isDraining"
  >
  & {
    /** What the operator should know about the files of this process. */
    warnings?: () => Promise<string[]>;
    /** The certificates of https; absent without https, or where another server has them. */
    certificates?: (() => CertificateStatus[]) | undefined;
  };

/** Returns the dependencies of the API for the options. */
export function appDeps(
  options: ServeOptions,
  observation: Observation,
  { warnings = () => Promise.resolve([]), ...own }: PlatformDeps,
): Deps {
  const { corsOrigins, failedReasons, idleTimeout, maxUploads, trustedProxies } = options;
  const { minUploadRate: rate, publicUrl, shareHost: host } = options;
  return {
    ...own,
    administrator: own.store.adminToken,
    share: { publicUrl, host },
    wrongPasswords: new WrongKeyLimiter(),
    program: {
      version: VERSION,
      build: observation.build,
      storeKind: observation.hasFile ? "file" : "shared",
      storeSize: () => observation.storeSize(),
      diskReserve: options.diskReserve,
      running: () => observation.running(),
      warnings,
    },
    corsOrigins,
    failedReasons,
    idleTimeout,
    slots: new UploadSlots({ max: maxUploads, maxWait: idleTimeout }),
    uploadPace: rate === 0 ? undefined : { rate, grace: Math.max(UPLOAD_GRACE, idleTimeout) },
    trustedProxies,
    observer: observation.observer,
    metrics: observation.metricsPage(own),
    metricsToken: options.metricsToken && hashSecret(options.metricsToken),
    readiness: new Readiness((signal) => own.store.probe(signal)),
    onError: observation.onError,
  };
}

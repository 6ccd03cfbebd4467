import type { CertificateStatus } from "../../acme/certificate_entry.ts";
import type { Deps } from "../../api/endpoint.ts";
import { Readiness } from "../../api/server/health.ts";
import { WrongKeyLimiter } from "../../http/network/wrong_keys.ts";
import { UploadSlots } from "../../http/upload_slots.ts";
import { hashSecret } from "../../rules/secrets.ts";
import type { BackupStatus } from "../../store/backup/backup_health.ts";
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
    | "gate"
    | "s3"
    | "hosts"
    | "upstreamRules"
    | "running"
    | "wrongKeys"
    | "isDraining"
  >
  & {
    /** Limits wrong passwords of links. */
    wrongPasswords?: WrongKeyLimiter;
    /** The state of the backups of this process; absent if it makes none. */
    backups?: (() => BackupStatus) | undefined;
    /** What the operator should know about the files of this process. */
    warnings?: () => Promise<string[]>;
    /** The certificates of https; absent without https, or where another server has them. */
    certificates?: (() => CertificateStatus[]) | undefined;
  };

/** Returns the dependencies of the API for the options. */
export function appDeps(
  options: ServeOptions,
  observation: Observation,
  { warnings = () => Promise.resolve([]), backups, certificates, ...own }: PlatformDeps,
): Deps {
  const { corsOrigins, failedReasons, idleTimeout, maxUploads, trustedProxies } = options;
  const { minUploadRate: rate, publicUrl, shareHost: host } = options;
  return {
    wrongPasswords: new WrongKeyLimiter(),
    ...own,
    administrator: own.store.adminToken,
    share: { publicUrl, host },
    program: {
      version: VERSION,
      build: observation.build,
      storeKind: observation.hasFile ? "file" : "shared",
      storeSize: () => own.store.size(),
      diskReserve: options.diskReserve,
      load: observation.loadOf({ backups, warnings }),
    },
    corsOrigins,
    failedReasons,
    idleTimeout,
    slots: new UploadSlots({ max: maxUploads, maxWait: idleTimeout }),
    uploadPace: rate === 0 ? undefined : { rate, grace: Math.max(UPLOAD_GRACE, idleTimeout) },
    trustedProxies,
    observer: observation.observer,
    metrics: observation.metricsPage({ store: own.store, backups, certificates }),
    metricsToken: options.metricsToken && hashSecret(options.metricsToken),
    readiness: new Readiness((signal) => own.store.probe(signal)),
    onError: observation.onError,
  };
}

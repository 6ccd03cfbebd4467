import { toRuntimeResponse } from "../../http/responses/http_response.ts";
import { deadline } from "@std/async/deadline";
import { FetchGate } from "../../gate/fetch_gate.ts";
import { renderError, toHttpError } from "../../http/error_response.ts";
import { errors, type HttpError } from "../../http/http_error.ts";
import { UpstreamRules } from "../../http/network/upstream_rules.ts";
import { WrongKeyLimiter } from "../../http/network/wrong_keys.ts";
import { requestIdOf } from "../../http/request_context.ts";
import { RunningUploads } from "../../http/upload_slots.ts";
import type { Handler } from "../../http1/server.ts";
import { HostRules } from "../../rules/hosts.ts";
import { unknownVolume } from "../../store/disk/volume.ts";
import { CannotOpenStore, StoreUnavailable } from "../../store/engine/errors.ts";
import type { S3SecretKey } from "../../store/accounts/s3_secrets.ts";
import { openRemoteDatabase, type RemoteStore } from "../../store/remote/remote_database.ts";
import { Store } from "../../store/store.ts";
import { converter } from "../../store/upgrade/upgrade.ts";
import { buildKind } from "../../version.ts";
import { s3SecretKeyOf } from "../options/s3_secret.ts";
import { readServeOptions, type ServeOptions, serverNames } from "../options/serve_options.ts";
import { announce, type Environment } from "../terminal/output.ts";
import { appDeps } from "./app_deps.ts";
import { applyCredentials, readCredentials, startMessage } from "./credentials.ts";
import { respondersOf, s3Address } from "./listen.ts";
import { createMemoryBudget } from "./machine.ts";
import { logFormatOf, Observation } from "./observation.ts";
import { ShutdownSignal } from "./processes/shutdown_signal.ts";
import { drain, ignoreTimeout } from "./serve.ts";
import { loadDashboard } from "./dashboard.ts";

/** Milliseconds for running transfers, then to close the store: Deno Deploy ends a program 5 seconds after its signal. */
const DEPLOY_SHUTDOWN_TIME = 4000;
const DEPLOY_CLOSE_TIME = 500;

/** Milliseconds between two attempts to open the database. */
const DEPLOY_REOPEN_PAUSE = 1000;

/** The schedule of sweeps without requests, for which the platform starts an instance. */
const SWEEP_SCHEDULE = "*/10 * * * *";

/**
 * Runs the server on Deno Deploy until a signal ends it. All settings come from the environment, and the address from the
 * platform. There is no disk: the store is the database that is attached to the program.
 *
 * @throws {UsageError} if a variable is invalid.
 */
export async function serveOnDeploy(env: Environment): Promise<void> {
  const options = readServeOptions(new Map(), env);
  const given = readCredentials(env);
  const { trustedProxies, idleTimeout, appsTimeout, publicUrl, s3Domain } = options;
  const s3 = { domain: s3Domain, port: undefined, scheme: "https" } as const;
  let draining = false;
  const running = new RunningUploads();
  const wrongKeys = new WrongKeyLimiter();
  const dashboard = await loadDashboard();
  const hosts = await HostRules.load(serverNames(options, { isOnDeploy: true }));
  // The platform owns the ports, so no upstream can be the server itself.
  const upstreamRules = new UpstreamRules(options.allowedUpstreams, new Set());
  const observation = new Observation({
    log: logFormatOf(options),
    data: undefined,
    build: buildKind(env),
  });
  const { onError, observer } = observation;
  const opening = new StoreOpener(
    remoteStoreOf(env, options),
    options,
    s3SecretKeyOf({ ...options, data: undefined }, env),
    observation,
    async (store) => {
      announce(
        startMessage(
          await applyCredentials(store, given),
          "https://<this program's address>",
          "",
        ),
      );
      if (s3Domain !== undefined) announce(`S3 is at https://${s3Domain}\n`);
      observation.begin();
      const deps = appDeps(options, observation, {
        store,
        dashboard,
        volume: unknownVolume,
        gate: undefined,
        s3: (origin) => s3Address(s3, publicUrl ?? origin),
        hosts,
        upstreamRules,
        running,
        wrongKeys,
        isDraining: () => draining,
      });
      const { app } = await respondersOf(options, deps);
      const timeouts = { trustedProxies, idleTimeout, appsTimeout };
      const shared = { store, wrongKeys, hosts, upstreamRules };
      const gate = new FetchGate({ ...shared, ...timeouts, observer, onError });
      return async (request, info) => {
        const answer = draining ? undefined : await gate.respond(request, info);
        return answer ?? await app(request, info);
      };
    },
  );
  using signal = new ShutdownSignal(() => observation.end());
  // The platform requires cron jobs to be registered before the server listens.
  sweepBySchedule(opening);
  const server = listen(options, opening);
  announce("kvdrive listening for Deno Deploy\n");
  await signal.first;
  draining = true;
  const time = Math.min(options.shutdownTimeout, DEPLOY_SHUTDOWN_TIME);
  await deadline(drain(server, running), time).catch(ignoreTimeout);
  await deadline(opening.close(), DEPLOY_CLOSE_TIME).catch(ignoreTimeout);
  await observation.end();
}

/** Listens on the platform's address: the runtime itself follows `DENO_SERVE_ADDRESS`. */
function listen({ hostname, port }: ServeOptions, opening: StoreOpener): Deno.HttpServer {
  const quiet = { automaticCompression: false, onListen: () => {} };
  const answer = async (request: Request, info: Deno.ServeHandlerInfo): Promise<Response> => {
    try {
      const { app } = await opening.opened();
      return await app(request, info);
    } catch (error) {
      const response = renderError(toHttpError(error));
      response.headers.set("X-Request-Id", requestIdOf(request.headers));
      return response;
    }
  };
  const handler = forOlderRuntimes(answer);
  return Deno.serve(
    { hostname, port, ...quiet },
    async (request, info) => toRuntimeResponse(await handler(request, info)),
  );
}

/** Returns the configured store, else the attached database; `undefined` if there is none. */
function remoteStoreOf(env: Environment, { kv }: ServeOptions): RemoteStore | undefined {
  if (kv !== undefined) return { url: kv, timeout: 0 };
  // Without an attached database, some versions of the platform open a temporary one, which must not be used.
  const isRequired = isRecentRuntime() && env["DENO_KV_REQUIRES_DISTRIBUTED_DATABASE"] === "error";
  const isAttached = /^https?:/.test(env["DENO_KV_DEFAULT_PATH"] ?? "");
  return isRequired || isAttached ? { timeout: 0 } : undefined;
}

/** Opens the store on the first request, and retries after failures: at most once a second. */
class StoreOpener {
  #opened: Promise<{ store: Store; app: Handler }> | undefined;
  #failure: { error: HttpError; until: number } | undefined;

  constructor(
    private readonly place: RemoteStore | undefined,
    private readonly options: ServeOptions,
    private readonly s3SecretKey: S3SecretKey,
    private readonly observation: Observation,
    private readonly makeApp: (store: Store) => Promise<Handler>,
  ) {}

  /** Returns the store and the application. @throws {HttpError} if the store cannot be opened. */
  async opened(): Promise<{ store: Store; app: Handler }> {
    if (this.#failure !== undefined && performance.now() < this.#failure.until) {
      throw this.#failure.error;
    }
    this.#opened ??= this.#open();
    return await this.#opened;
  }

  /** Closes the store, if it was opened. */
  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.store.close();
  }

  async #open(): Promise<{ store: Store; app: Handler }> {
    let store: Store | undefined;
    try {
      if (this.place === undefined) throw errors.databaseMissing();
      const { onError, onNotice, store: meter } = this.observation;
      const convert = converter({ onNotice, reserve: 0 });
      const database = await openRemoteDatabase({ ...this.place, convert });
      const { uploadTtl, maxOpenUploads } = this.options;
      const memory = createMemoryBudget(this.options);
      const limits = { uploadTtl, maxOpenUploads, memory };
      store = new Store(database, { ...limits, s3SecretKey: this.s3SecretKey, meter, onError });
      const app = await this.makeApp(store);
      store.sweeper.start();
      return { store, app };
    } catch (error) {
      await store?.close();
      throw this.#fail(error);
    }
  }

  #fail(cause: unknown): HttpError {
    const error = refusalOf(cause);
    if (error.cause !== undefined) this.observation.onError(error.cause);
    this.#failure = { error, until: performance.now() + DEPLOY_REOPEN_PAUSE };
    this.#opened = undefined;
    return error;
  }
}

/** Returns the answer to clients while the store cannot be opened. */
function refusalOf(error: unknown): HttpError {
  if (error instanceof CannotOpenStore) {
    return /no KV database is attached/i.test(error.message)
      ? errors.databaseMissing()
      : errors.storeUnavailable(new StoreUnavailable(error.message, { cause: error }));
  }
  return toHttpError(error);
}

/** Sweeps by schedule, if the platform supports that. */
function sweepBySchedule(opening: StoreOpener): void {
  if (typeof Deno.cron !== "function") return;
  Deno.cron("sweep", SWEEP_SCHEDULE, async () => {
    const { store } = await opening.opened();
    await store.sweeper.sweep();
    await store.scrub.checkUrgent();
  });
}

/** Reports whether the runtime is Deno 2.9 or later, the oldest version with the options used here. */
export function isRecentRuntime(version: string = Deno.version.deno): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 9);
}

/**
 * Adapts a handler to older runtimes. They compress answers ("Bytes are never changed on the way (no compression of
 * ours)") unless `Cache-Control` forbids it, while recent ones have an option. And they close a connection whose request
 * body was not read to its end without announcing it.
 */
export function forOlderRuntimes<Rest extends unknown[]>(
  handler: (request: Request, ...rest: Rest) => Promise<Response>,
  isRecent: boolean = isRecentRuntime(),
): (request: Request, ...rest: Rest) => Promise<Response> {
  if (isRecent) return handler;
  return async (request, ...rest) => {
    const response = await handler(request, ...rest);
    if (request.body !== null && response.status >= 400) {
      response.headers.set("Connection", "close");
    }
    if (!isCompressible(request, response)) return response;
    // A single header: the runtime reads only the first.
    const current = response.headers.get("cache-control");
    response.headers.set(
      "Cache-Control",
      current === null ? "no-transform" : `${current}, no-transform`,
    );
    return response;
  };
}

/** Reports whether the runtime would compress an answer. HEAD gets the same headers as GET. */
function isCompressible(request: Request, { body, headers }: Response): boolean {
  if (!request.headers.has("accept-encoding") || headers.has("content-encoding")) return false;
  return body !== null || request.method === "HEAD";
}

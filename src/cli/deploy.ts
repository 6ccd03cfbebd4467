import { deadline } from "@std/async/deadline";
import { createApp } from "../app.ts";
import { HostRules } from "../drive/hosts.ts";
import { DEPLOY_CLOSE_TIME, DEPLOY_REOPEN_PAUSE, DEPLOY_SHUTDOWN_TIME } from "../drive/limits.ts";
import { RequestGate } from "../gate/request_gate.ts";
import { errors, type HttpError } from "../http/http_error.ts";
import { PageFiles } from "../http/page_files.ts";
import { renderError, toHttpError } from "../http/render_error.ts";
import { requestIdOf } from "../http/request_id.ts";
import { RunningUploads } from "../http/running_uploads.ts";
import { UpstreamRules } from "../http/upstream_rules.ts";
import { WrongKeys } from "../http/wrong_keys.ts";
import { unknownVolume } from "../store/disk_space.ts";
import { CannotOpenStore, StoreUnavailable } from "../store/errors.ts";
import { openRemoteDatabase, type RemoteStore } from "../store/remote_database.ts";
import { Store } from "../store/store.ts";
import { depsOf } from "./app_deps.ts";
import { establish, givenCredentials, welcomeText } from "./credentials.ts";
import { memoryBudgetOf } from "./machine_memory.ts";
import { Observation } from "./observation.ts";
import type { Environment } from "./given_values.ts";
import { parseServeOptions } from "./options.ts";
import type { ServeOptions } from "./serve_options.ts";
import { serverNames } from "./server_names.ts";
import { announce } from "./output.ts";
import { forOlderRuntimes, isRecentRuntime } from "./runtime.ts";
import { drain, ignoreTimeout } from "./serve.ts";
import { ShutdownSignal } from "./shutdown.ts";

const DASHBOARD = new URL("../dashboard/", import.meta.url);

/** How often what is due is removed while nobody calls: an instance is started for it. */
const SWEEP_SCHEDULE = "*/10 * * * *";

type App = ReturnType<typeof createApp>;

/** Whether the program is started by Deno Deploy, which gives it no arguments. */
export function isOnDeploy(args: readonly string[], env: Environment): boolean {
  return args.length === 0 && (env["DENO_DEPLOY"] ?? "") !== "";
}

/**
 * Runs the server on Deno Deploy until a signal ends it. All settings come from the environment; where to listen the
 * platform says. There is no disk: the store is the database that is attached to the program.
 *
 * @throws {UsageError} where a variable holds something that cannot be used.
 */
export async function serveOnDeploy(env: Environment): Promise<void> {
  const options = parseServeOptions([], env);
  const given = givenCredentials(env);
  let draining = false;
  const running = new RunningUploads();
  const wrongKeys = new WrongKeys();
  const dashboard = await loadDashboard();
  const hosts = await HostRules.load(serverNames(options, { isOnDeploy: true }));
  // Where the program listens is the platform's affair: no upstream leads there by its port.
  const upstreamRules = new UpstreamRules(options.allowedUpstreams, new Set());
  const observation = new Observation({ log: options.log, data: undefined });
  const { onError, watch } = observation;
  const opening = new Opening(placeOf(env, options), options, observation, async (store) => {
    announce(
      welcomeText(await establish(store.projects, given), "https://<this program's address>", ""),
    );
    observation.begin();
    const app = createApp(depsOf(options, observation, {
      store,
      dashboard,
      volume: unknownVolume,
      gate: undefined,
      hosts,
      upstreamRules,
      running,
      wrongKeys,
      isDraining: () => draining,
    }));
    const { trustedProxies, idleTimeout, appsTimeout } = options;
    const patience = { trustedProxies, idleTimeout, appsTimeout };
    const shared = { store, wrongKeys, hosts, upstreamRules };
    const gate = new RequestGate({ ...shared, ...patience, watch, onError });
    return async (request, info) => {
      const answer = draining ? undefined : await gate.answer(request, info);
      return answer ?? await app(request, info);
    };
  });
  using signal = new ShutdownSignal(() => observation.end());
  // What the clock starts has to be known before the server listens.
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

/** Listens where the platform says, in `DENO_SERVE_ADDRESS`, which the runtime follows by itself. */
function listen({ hostname, port }: ServeOptions, opening: Opening): Deno.HttpServer {
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
  return Deno.serve({ hostname, port, ...quiet }, forOlderRuntimes(answer));
}

/** Where the store is: the database that is attached to the program, unless the settings name another one. */
function placeOf(env: Environment, { kv }: ServeOptions): RemoteStore | undefined {
  if (kv !== undefined) return { url: kv, patience: 0 };
  // Without a database some versions of the platform open one that is gone with the instance: nothing may go there.
  const isDemanded = isRecentRuntime() && env["DENO_KV_REQUIRES_DISTRIBUTED_DATABASE"] === "error";
  const isAttached = /^https?:/.test(env["DENO_KV_DEFAULT_PATH"] ?? "");
  return isDemanded || isAttached ? { patience: 0 } : undefined;
}

/** Opens the store when it is first needed, and tries again where that fails: once a second at most. */
class Opening {
  readonly #place: RemoteStore | undefined;
  readonly #options: ServeOptions;
  readonly #observation: Observation;
  readonly #makeApp: (store: Store) => Promise<App>;
  #opened: Promise<{ store: Store; app: App }> | undefined;
  #failure: { error: HttpError; until: number } | undefined;

  constructor(
    place: RemoteStore | undefined,
    options: ServeOptions,
    observation: Observation,
    makeApp: (store: Store) => Promise<App>,
  ) {
    this.#place = place;
    this.#options = options;
    this.#observation = observation;
    this.#makeApp = makeApp;
  }

  /** The store, and the application on it. @throws {HttpError} where the store cannot be opened. */
  async opened(): Promise<{ store: Store; app: App }> {
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

  async #open(): Promise<{ store: Store; app: App }> {
    let store: Store | undefined;
    try {
      if (this.#place === undefined) throw errors.noDatabase();
      const database = await openRemoteDatabase(this.#place);
      const { onError, store: meter } = this.#observation;
      const { uploadTtl, maxOpenUploads } = this.#options;
      const memory = memoryBudgetOf(this.#options);
      store = new Store(database, { uploadTtl, maxOpenUploads, memory, meter, onError });
      const app = await this.#makeApp(store);
      store.sweeper.start();
      return { store, app };
    } catch (error) {
      await store?.close();
      throw this.#fail(error);
    }
  }

  #fail(cause: unknown): HttpError {
    const error = refusalOf(cause);
    if (error.cause !== undefined) this.#observation.onError(error.cause);
    this.#failure = { error, until: performance.now() + DEPLOY_REOPEN_PAUSE };
    this.#opened = undefined;
    return error;
  }
}

/** What callers are told of a store that cannot be opened. */
function refusalOf(error: unknown): HttpError {
  if (error instanceof CannotOpenStore) {
    return /no KV database is attached/i.test(error.message)
      ? errors.noDatabase()
      : errors.unavailable(new StoreUnavailable(error.message, { cause: error }));
  }
  return toHttpError(error);
}

/** The page for people, where the program may read its own files. */
async function loadDashboard(): Promise<PageFiles> {
  try {
    return await PageFiles.load(DASHBOARD);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return new PageFiles(new Map());
    throw error;
  }
}

/** Removes what is due also while nobody calls, where the platform starts instances by the clock. */
function sweepBySchedule(opening: Opening): void {
  if (typeof Deno.cron !== "function") return;
  Deno.cron("sweep", SWEEP_SCHEDULE, async () => {
    const { store } = await opening.opened();
    await store.sweeper.sweep();
    await store.scrub.completeDigests();
  });
}

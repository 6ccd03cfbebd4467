import { deadline } from "@std/async/deadline";
import { FetchGate } from "../../gate/fetch_gate.ts";
import { toHttpError } from "../../http/error_response.ts";
import { errors, type HttpError } from "../../http/http_error.ts";
import {
  applyCredentials,
  type ConfiguredCredentials,
  readCredentials,
} from "../../server/credentials.ts";
import { loadDashboard } from "../../server/dashboard.ts";
import { logFormatOf, standardLog } from "../../server/log.ts";
import { Observation } from "../../server/observation.ts";
import { isRecentRuntime, refusalOf, RuntimeHandler } from "../../server/runtime_handler.ts";
import { Server, type ServerOptions } from "../../server/server.ts";
import type { S3SecretKey } from "../../store/accounts/s3_secrets.ts";
import { CannotOpenStore, StoreUnavailable } from "../../store/engine/errors.ts";
import type { RemoteStore } from "../../store/remote/remote_database.ts";
import { buildKind } from "../../version.ts";
import { s3SecretKeyOf } from "../options/s3_secret.ts";
import { readServeOptions, type ServeOptions, serverNames } from "../options/serve_options.ts";
import { announce, type Environment } from "../terminal/output.ts";
import { ShutdownSignal } from "./processes/shutdown_signal.ts";
import { ignoreTimeout } from "./serve.ts";
import { startMessage } from "./welcome.ts";

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
  const settings = readServeOptions(new Map(), env);
  const log = standardLog(logFormatOf(settings));
  const observation = new Observation({ log, data: undefined, build: buildKind(env) });
  const opening = new Opening(remoteStoreOf(env, settings), readCredentials(env), {
    // An instance lives too briefly for a pass.
    settings: { ...settings, scrubEvery: "off" },
    observation,
    names: serverNames(settings, { isOnDeploy: true }),
    dashboard: await loadDashboard(),
    s3SecretKey: s3SecretKeyOf({ ...settings, data: undefined }, env),
  });
  using signal = new ShutdownSignal(() => log.close());
  // The platform requires cron jobs to be registered before the server listens.
  sweepBySchedule(opening);
  const { hostname, port } = settings;
  // The runtime itself follows `DENO_SERVE_ADDRESS`.
  const runtime = Deno.serve(
    { hostname, port, automaticCompression: false, onListen: () => {} },
    (request, info) => opening.respond(request, info),
  );
  announce("kvdrive listening for Deno Deploy\n");
  await signal.first;
  const time = Math.min(settings.shutdownTimeout, DEPLOY_SHUTDOWN_TIME);
  // The runtime's own shutdown would abort bodies of requests.
  await deadline(opening.drain().then(() => runtime.shutdown()), time).catch(ignoreTimeout);
  await deadline(opening.close(), DEPLOY_CLOSE_TIME).catch(ignoreTimeout);
  await log.close();
}

/** Returns the configured store, else the attached database; `undefined` if there is none. */
function remoteStoreOf(env: Environment, { kv }: ServeOptions): RemoteStore | undefined {
  if (kv !== undefined) return { url: kv, timeout: 0 };
  // Without an attached database, some versions of the platform open a temporary one, which must not be used.
  const isRequired = isRecentRuntime() && env["DENO_KV_REQUIRES_DISTRIBUTED_DATABASE"] === "error";
  const isAttached = /^https?:/.test(env["DENO_KV_DEFAULT_PATH"] ?? "");
  return isRequired || isAttached ? { timeout: 0 } : undefined;
}

/** A server, and what passes requests of the runtime to it. */
interface Opened {
  server: Server;
  handler: RuntimeHandler;
}

/** Opens the store on the first request, and retries after failures: at most once a second. */
class Opening {
  #opened: Promise<Opened> | undefined;
  #failure: { error: HttpError; until: number } | undefined;
  #isDraining = false;

  constructor(
    private readonly place: RemoteStore | undefined,
    private readonly credentials: ConfiguredCredentials,
    private readonly options: ServerOptions & { s3SecretKey: S3SecretKey },
  ) {}

  /** Responds to a request, with an error if the store cannot be opened. */
  async respond(request: Request, info: Deno.ServeHandlerInfo): Promise<Response> {
    let opened: Opened;
    try {
      opened = await this.opened();
    } catch (error) {
      return refusalOf(request, toHttpError(error));
    }
    return await opened.handler.respond(request, info);
  }

  /** Returns the server. @throws {HttpError} if the store cannot be opened. */
  async opened(): Promise<Opened> {
    if (this.#failure !== undefined && performance.now() < this.#failure.until) {
      throw this.#failure.error;
    }
    this.#opened ??= this.#open();
    return await this.#opened;
  }

  /** Refuses new work, and waits for running requests. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    const opened = await this.#opened?.catch(() => undefined);
    if (opened === undefined) return;
    opened.server.stopAccepting();
    await opened.handler.whenIdle();
  }

  /** Closes the store, if it was opened. */
  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.server.close();
  }

  async #open(): Promise<Opened> {
    let server: Server | undefined;
    try {
      if (this.place === undefined) throw errors.databaseMissing();
      server = await Server.open(this.place, this.options);
      if (this.#isDraining) server.stopAccepting();
      await this.#announce(server);
      const handler = await this.#handlerOf(server);
      server.store.sweeper.start();
      server.webhooks.start();
      return { server, handler };
    } catch (error) {
      await server?.close();
      throw this.#fail(error);
    }
  }

  async #announce({ store }: Server): Promise<void> {
    const created = await applyCredentials(store, this.credentials, this.options.settings);
    announce(startMessage(created, "https://<this program's address>", ""));
    const { settings: { s3Domain }, observation } = this.options;
    if (s3Domain !== undefined) announce(`S3 is at https://${s3Domain}\n`);
    observation.log.open();
  }

  async #handlerOf(server: Server): Promise<RuntimeHandler> {
    const { app } = await server.responders();
    const { settings, observation: { observer, onError } } = this.options;
    const { store, wrongKeys, hosts, upstreamRules } = server;
    const { trustedProxies, idleTimeout, appsTimeout } = settings;
    const gate = new FetchGate({
      ...{ store, wrongKeys, hosts, upstreamRules, observer, onError },
      ...{ trustedProxies, idleTimeout, appsTimeout },
    });
    return new RuntimeHandler(async (request, info) => {
      const answer = server.isDraining ? undefined : await gate.respond(request, info);
      return answer ?? await app(request, info);
    });
  }

  #fail(cause: unknown): HttpError {
    const error = problemOf(cause);
    if (error.cause !== undefined) this.options.observation.onError(error.cause);
    this.#failure = { error, until: performance.now() + DEPLOY_REOPEN_PAUSE };
    this.#opened = undefined;
    return error;
  }
}

/** Returns the answer to clients while the store cannot be opened. */
function problemOf(error: unknown): HttpError {
  if (error instanceof CannotOpenStore) {
    return /no KV database is attached/i.test(error.message)
      ? errors.databaseMissing()
      : errors.storeUnavailable(new StoreUnavailable(error.message, { cause: error }));
  }
  return toHttpError(error);
}

/** Sweeps by schedule, if the platform supports that. */
function sweepBySchedule(opening: Opening): void {
  if (typeof Deno.cron !== "function") return;
  Deno.cron("sweep", SWEEP_SCHEDULE, async () => {
    const { server: { store } } = await opening.opened();
    await store.sweeper.sweep();
    await store.scrub.checkUrgent();
  });
}

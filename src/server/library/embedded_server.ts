import { connect, KvdriveError, type Project } from "../../client/mod.ts";
import { serverNames } from "../../cli/options/serve_options.ts";
import { errors } from "../../http/http_error.ts";
import { StaticFiles } from "../../http/responses/static_files.ts";
import { SECOND } from "../../rules/units.ts";
import { TimeoutExceeded, withTimeout } from "../../store/remote/reachability.ts";
import { buildKind } from "../../version.ts";
import { storeCredentials } from "../credentials.ts";
import { loadDashboard } from "../dashboard.ts";
import { type LibraryOptions, parseLibraryOptions } from "./library_options.ts";
import { Observation } from "../observation.ts";
import type { OpenServer, OpenServerOptions } from "./library.ts";
import { LOCAL_CLIENT, refusalOf, type RequestInfo, RuntimeHandler } from "../runtime_handler.ts";
import { Server } from "../server.ts";

/** How long requests that were ended have to notice it, in milliseconds. */
const ABORT_TIME = 2 * SECOND;

/** A server that its program calls: see `openServer`. */
export class EmbeddedServer implements OpenServer {
  #isClosed = false;
  #closing: Promise<void> | undefined;

  private constructor(
    private readonly server: Server,
    private readonly handler: RuntimeHandler,
    private readonly options: LibraryOptions,
  ) {}

  /** @throws {TypeError} if an option is not valid. @throws {CannotOpenStore} */
  static async open(given: OpenServerOptions): Promise<EmbeddedServer> {
    const options = parseLibraryOptions(given);
    const { place, settings, basePath, s3SecretKey, log, hasDashboard } = options;
    requireDenoKv();
    const observation = new Observation({
      log,
      data: "folder" in place ? place.folder : undefined,
      build: buildKind({}),
    });
    const server = await Server.open(place, {
      settings,
      observation,
      names: serverNames(settings),
      dashboard: hasDashboard ? await loadDashboard(basePath) : StaticFiles.of(new Map()),
      basePath,
      s3SecretKey,
    });
    try {
      await storeCredentials(server.store, options.credentials, settings);
      const handler = new RuntimeHandler((await server.responders()).app);
      server.start();
      log.open();
      server.warnings.forEach(observation.onNotice);
      return new EmbeddedServer(server, handler, options);
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  readonly fetch = async (request: Request, info?: RequestInfo): Promise<Response> => {
    if (this.#isClosed) return refusalOf(request, errors.shuttingDown());
    return await this.handler.respond(request, info);
  };

  readonly connect = (
    key: string | undefined = this.options.credentials.projectKey?.text,
  ): Project => {
    if (key === undefined) {
      throw new TypeError("connect needs a project key: give one, or the option projectKey");
    }
    return connect({
      url: `http://localhost${this.options.basePath}`,
      key,
      keepsDotSegments: true,
      fetch: async (request) => {
        if (!this.#isClosed) return await this.handler.respond(request, LOCAL_CLIENT);
        // An answer would be waited out, but nothing opens this server again.
        throw new KvdriveError("The server in this program was closed", { code: "shutting_down" });
      },
    });
  };

  readonly close = (): Promise<void> => this.#closing ??= this.#close();

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    this.server.stopAccepting();
    if (!await this.#isIdleWithin(this.options.settings.shutdownTimeout)) {
      this.handler.abort();
      await this.#isIdleWithin(ABORT_TIME);
    }
    this.#isClosed = true;
    await this.server.close();
    await this.options.log.close();
  }

  async #isIdleWithin(time: number): Promise<boolean> {
    try {
      await withTimeout(time, this.handler.whenIdle());
      return true;
    } catch (error) {
      if (error instanceof TimeoutExceeded) return false;
      throw error;
    }
  }
}

/** @throws {Error} if the program was started without Deno KV, which is still behind a flag of the runtime. */
function requireDenoKv(): void {
  if ("openKv" in Deno) return;
  throw new Error(
    'Deno KV is off in this program: add "unstable": ["kv"] to its deno.json, or start deno with --unstable-kv',
  );
}

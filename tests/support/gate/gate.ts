import { assert } from "@std/assert";
import { ADMINISTERED, Project } from "../admin.ts";
import { type Answer, Answer as Read } from "../answer.ts";
import { type ServerOptions, TestServer } from "../server.ts";

const PLACE = /^Applications are at (https?:\/\/\S+)$/m;

/** The default name of an application. */
export const APP = "app";

/** A server with a gate on a free port, and a project on it. */
export class Gate implements AsyncDisposable {
  private constructor(
    readonly server: TestServer,
    /** Where the applications are. */
    readonly origin: string,
    readonly project: Project,
    private readonly isShared = false,
  ) {}

  static async start(options: ServerOptions = {}): Promise<Gate> {
    const server = await TestServer.start({
      ...options,
      args: ["--apps-port", "auto", ...options.args ?? []],
      env: { ...ADMINISTERED.env, ...options.env },
    });
    const origin = PLACE.exec(server.text)?.[1];
    assert(origin !== undefined, server.text);
    return new Gate(server, origin, await Project.make(server));
  }

  /**
   * A project of its own on a server that all such gates of a test file share: for tests that neither configure, stop nor
   * observe the server, and claim no host name. The server ends with the test file.
   */
  static async shared(): Promise<Gate> {
    sharedServer ??= startShared();
    const { server, origin } = await sharedServer;
    return new Gate(server, origin, await Project.make(server), true);
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** The path of an application. */
  prefix(app = APP): string {
    return `/${this.project.id}/${app}`;
  }

  url(path: string, app = APP): string {
    return `${this.origin}${this.prefix(app)}${path}`;
  }

  async fetch(path: string, init: RequestInit & { app?: string } = {}): Promise<Response> {
    return await fetch(this.url(path, init.app), { redirect: "manual", ...init });
  }

  async get(path: string, headers: HeadersInit = {}): Promise<Answer> {
    return await Read.of(await this.fetch(path, { headers }));
  }

  /** Makes an application that everybody may call. */
  async open(upstream: string | undefined, name = APP, host?: string): Promise<void> {
    await this.project.makeApp({
      name,
      ...(upstream === undefined ? {} : { upstream }),
      ...(host === undefined ? {} : { host }),
    });
  }

  /** Makes an application with access control. @returns a key of it. */
  async protect(upstream: string, name = APP, host?: string): Promise<string> {
    await this.open(upstream, name, host);
    await this.switchAccess(true, name);
    return await this.makeKey("first", name);
  }

  async switchAccess(enabled: boolean, name = APP): Promise<void> {
    const path = `/apps/${name}/access`;
    (await this.project.call("PUT", path, { body: { enabled } })).expect(200);
  }

  async makeKey(name: string, app = APP): Promise<string> {
    return (await this.project.makeAppKey(`/apps/${app}`, { name })).api_key;
  }

  async revoke(name: string, app = APP): Promise<void> {
    (await this.project.call("DELETE", `/apps/${app}/keys/${name}`)).expect(200);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isShared) await this.server[Symbol.asyncDispose]();
  }
}

let sharedServer: Promise<Gate> | undefined;

async function startShared(): Promise<Gate> {
  const gate = await Gate.start();
  addEventListener("unload", () => gate.server.endAtExit());
  return gate;
}

import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { AllowedUpstreams, UpstreamRules } from "../http/network/upstream_rules.ts";
import { WrongKeyLimiter } from "../http/network/wrong_keys.ts";
import { type RequestContext, RequestObserver } from "../http/request_context.ts";
import { HostRules } from "../rules/hosts.ts";
import type { AppInfo } from "../store/accounts/apps.ts";
import type { GateDeps } from "./context.ts";
import { FetchGate } from "./fetch_gate.ts";

const HOST = "app.example.com";
const GENERATED = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An application behind a gate, and what both of them saw. */
class Served implements AsyncDisposable {
  /** `X-Request-Id` of the requests that reached the application. */
  readonly received: (string | null)[] = [];
  /** The ids that are logged. */
  readonly logged: string[] = [];
  /** The ids of reported failures. */
  readonly failed: (string | undefined)[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #app: AppInfo;

  /** @param own The headers of the application's answers. */
  constructor(own: Record<string, string> = {}) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
      this.received.push(request.headers.get("x-request-id"));
      return new Response("ok", { headers: own });
    });
    const upstream = `http://127.0.0.1:${this.#server.addr.port}`;
    this.#app = { project: "p", app: "a", created: 0, access: false, host: HOST, upstream };
  }

  /** Sends a request. Returns `X-Request-Id` of the answer. */
  async ask(
    headers: Record<string, string> = {},
    { app = this.#app, fails = false }: { app?: AppInfo; fails?: boolean } = {},
  ): Promise<string> {
    const find = () => fails ? Promise.reject(new Error("No store")) : Promise.resolve(app);
    const store = {
      apps: { find, findByHost: () => Promise.resolve(app) },
      sessions: { find },
      revocations: { onChange: () => () => {} },
    } as unknown as GateDeps["store"];
    const record = ({ id }: RequestContext) => void this.logged.push(id);
    const gate = new FetchGate({
      store,
      wrongKeys: new WrongKeyLimiter(),
      trustedProxies: undefined,
      hosts: await HostRules.load({ own: [], gate: [] }),
      upstreamRules: new UpstreamRules(AllowedUpstreams.none, new Set()),
      idleTimeout: 60_000,
      appsTimeout: 60_000,
      observer: new RequestObserver({ begin() {}, end() {} }, { record }),
      onError: (_error, id) => void this.failed.push(id),
    });
    const request = new Request(`https://${HOST}/x`, { headers: { Host: HOST, ...headers } });
    const completed = Promise.resolve();
    const remoteAddr = { transport: "tcp", hostname: "192.0.2.1", port: 1 } as const;
    const response = await gate.respond(request, { remoteAddr, completed });
    assert(response !== undefined);
    await response.text();
    await completed;
    return response.headers.get("x-request-id") ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

Deno.test("A forwarded answer, the application and the log have the same id", async () => {
  await using served = new Served();
  assertEquals(await served.ask({ "X-Request-Id": "Caller-1" }), "Caller-1");
  const generated = [await served.ask(), await served.ask({ "X-Request-Id": "with blanks" })];
  for (const id of generated) assertMatch(id, GENERATED);
  assertNotEquals(generated[0], generated[1]);
  assertEquals(served.received, ["Caller-1", ...generated]);
  assertEquals(served.logged, ["Caller-1", ...generated]);
});

Deno.test("An id that the application sets is kept", async () => {
  await using served = new Served({ "X-Request-Id": "{of the app}" });
  assertEquals(await served.ask({ "X-Request-Id": "mine" }), "{of the app}");
  assertEquals(await served.ask(), "{of the app}");
  assertMatch(served.received[1] ?? "", GENERATED);
  assertEquals([served.received[0], served.received], ["mine", served.logged]);
});

Deno.test("The gate's own answers have the id that is logged", async () => {
  await using served = new Served();
  const app = { project: "p", app: "a", created: 0, access: false, host: HOST };
  const refused = await served.ask({}, { app: { ...app, access: true } });
  const unreachable = await served.ask({}, { app });
  const session = "__Host-kvdrive_session=x";
  const failed = await served.ask({ Cookie: session }, {
    app: { ...app, access: true },
    fails: true,
  });
  assertEquals(served.logged, [refused, unreachable, failed]);
  assertEquals([served.failed, served.received], [[failed], []]);
});

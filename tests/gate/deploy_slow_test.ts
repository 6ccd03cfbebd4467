import { assert, assertEquals, assertMatch } from "@std/assert";
import { EXECUTABLE } from "../support/command.ts";
import { Deployed, Platform } from "../support/deploy/deploy.ts";
import { type RawAnswer, RawClient } from "../support/gate/raw_client.ts";
import { type Echo, UpstreamApp } from "../support/gate/upstream_app.ts";
import { PROJECT_KEY } from "../support/server.ts";

const TOKEN = "a".repeat(32);
const HOST = "viewer.example.com";
const SETTINGS = { KVDRIVE_PROJECT_KEY: PROJECT_KEY, KVDRIVE_ADMIN_TOKEN: TOKEN };
const APPS = "/admin/v1/projects/test-project/apps";

/** A program on the platform with an application, which only its owner and holders of a key may call. */
class Hosted implements AsyncDisposable {
  private constructor(
    readonly platform: Platform,
    readonly deployed: Deployed,
    readonly app: UpstreamApp,
    readonly key: string,
  ) {}

  static async start(env: Record<string, string> = {}): Promise<Hosted> {
    const platform = new Platform({ isAttached: true });
    const deployed = await Deployed.start({ ...SETTINGS, ...platform.env, ...env });
    const app = new UpstreamApp();
    const call = async (method: string, path: string, body: unknown) => {
      const headers = { Authorization: `Bearer ${TOKEN}` };
      const init = { method, headers, body: JSON.stringify(body) };
      const response = await fetch(`${deployed.origin}${APPS}${path}`, init);
      assert(response.ok, await response.clone().text());
      return await response.json();
    };
    await call("POST", "", { name: "viewer", upstream: app.origin, host: HOST });
    await call("PUT", "/viewer/access", { enabled: true });
    const { api_key } = await call("POST", "/viewer/keys", { name: "ci" });
    return new Hosted(platform, deployed, app, api_key);
  }

  /** Sends a request unchanged and returns the answer. */
  async ask(
    method: string,
    target: string,
    headers: Record<string, string> = {},
    body = "",
  ): Promise<RawAnswer> {
    using client = await RawClient.connect(Number(new URL(this.deployed.origin).port));
    const length = body === "" ? {} : { "Content-Length": String(body.length) };
    const all = { Host: HOST, Connection: "close", ...length, ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    await client.send(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
    return await client.readAnswer(method);
  }

  async revoke(): Promise<void> {
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const url = `${this.deployed.origin}${APPS}/viewer/keys/ci`;
    const response = await fetch(url, { method: "DELETE", headers });
    assert(response.ok, await response.text());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.deployed[Symbol.asyncDispose]();
    await this.app[Symbol.asyncDispose]();
    await this.platform[Symbol.asyncDispose]();
  }
}

/** The platform has the sources, and no executable. */
function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: EXECUTABLE !== undefined, fn });
}

test("On a single port the host name selects the API or an application.", async () => {
  await using hosted = await Hosted.start();
  const key = { "X-API-Key": hosted.key };
  const inside = await hosted.ask("GET", "/a/b?c=d", key);
  assertEquals([inside.status, (JSON.parse(inside.body) as Echo).target], [200, "/a/b?c=d"]);
  assertEquals((await hosted.ask("GET", "/a", { ...key, Host: `${HOST}:443` })).status, 200);
  const api = { Host: "files.example.com", "X-Api-Key": PROJECT_KEY };
  assertEquals((await hosted.ask("GET", "/v1/test-project", api)).status, 200);
  // The path selects nothing here.
  const other = { ...key, Host: "files.example.com" };
  assertEquals((await hosted.ask("GET", "/test-project/viewer/", other)).status, 404);
});

test("No application takes the server's own host, and so the way to its administration.", async () => {
  await using hosted = await Hosted.start({ KVDRIVE_PUBLIC_URL: "https://files.example.com" });
  const admin = { Authorization: `Bearer ${TOKEN}` };
  const claim = (host: string, headers: Record<string, string>) =>
    hosted.ask("PATCH", `${APPS}/viewer`, headers, JSON.stringify({ host }));
  const never = ["files.example.com", "kvdrive.acme.deno.net", "x.deno.dev", "localhost", "com"];
  for (const host of never) {
    assertEquals((await claim(host, { ...admin, Host: "127.0.0.1" })).status, 400, host);
  }
  // The settings need not name it: what the administrator calls is the server.
  const unnamed = "panel.example.org";
  assertEquals((await claim(unnamed, { ...admin, Host: unnamed })).status, 400);
  const owner = { "X-Api-Key": PROJECT_KEY, "Host": "127.0.0.1" };
  for (const host of [...never, unnamed, "other.example.org"]) {
    assertEquals((await claim(host, owner)).status, 403, host);
  }
  const paths = ["/openapi.json", "/v1/test-project", "/admin/v1/projects"];
  for (const host of ["files.example.com", "Files.Example.com.:443", unnamed]) {
    for (const path of paths) {
      const headers = { Host: host, ...admin };
      assertEquals((await hosted.ask("GET", path, headers)).status, 200, host + path);
    }
    const auth = { "Host": host, "X-API-Key": hosted.key };
    assertEquals((await hosted.ask("GET", "/auth/test-project/viewer", auth)).status, 204);
  }
  assertEquals((await hosted.ask("GET", "/", { "X-API-Key": hosted.key })).status, 200);
  // A loop through the platform, and the machine's metadata.
  for (const upstream of ["https://kvdrive.acme.deno.net", "http://files.example.com"]) {
    const body = JSON.stringify({ upstream });
    await hosted.ask("PATCH", `${APPS}/viewer`, { ...admin, Host: "127.0.0.1" }, body);
    assertEquals((await hosted.ask("GET", "/", { "X-API-Key": hosted.key })).status, 502);
  }
});

test("Only an application's own pages change something with the browser's session.", async () => {
  await using hosted = await Hosted.start();
  const form = {
    "Content-Type": "application/x-www-form-urlencoded",
    "Origin": `https://${HOST}`,
  };
  const signedIn = await hosted.ask("POST", "/.kvdrive/sign-in", form, `key=${PROJECT_KEY}`);
  const cookie = signedIn.header("set-cookie") ?? "";
  assertMatch(cookie, /^__Host-kvdrive_session=/);
  const session = { Cookie: cookie.split(";")[0] ?? "" };
  const foreign = { ...session, Origin: "https://evil.example.com" };
  assertEquals((await hosted.ask("POST", "/x", foreign, "a=b")).status, 401);
  assertEquals((await hosted.ask("POST", "/x", session, "a=b")).status, 401);
  assertEquals((await hosted.ask("GET", "/x", foreign)).status, 200);
  const own = { ...session, Origin: `https://${HOST}` };
  assertEquals((await hosted.ask("POST", "/x", own, "a=b")).status, 200);
});

test("An application is for its owner and holders of a key, as at the gate of its own.", async () => {
  await using hosted = await Hosted.start();
  const none = await hosted.ask("GET", "/");
  assertEquals([none.status, none.header("www-authenticate")], [401, 'ApiKey realm="kvdrive"']);
  assertMatch(none.body, /^\{"errors":\[".*"\],"code":"[a-z_]+"\}$/);
  const wrong = await hosted.ask("GET", "/", { "X-API-Key": "abcdefgh.no" });
  assertEquals(wrong.status, 401);
  const page = await hosted.ask("GET", "/", { Accept: "text/html" });
  assertEquals(page.status, 401);
  assertMatch(page.body, /<form method="post" action="\/\.kvdrive\/sign-in">/);
  assertEquals((await hosted.ask("GET", "/", { "X-API-Key": PROJECT_KEY })).status, 200);
  const form = {
    "Content-Type": "application/x-www-form-urlencoded",
    "Sec-Fetch-Site": "same-origin",
  };
  const signedIn = await hosted.ask("POST", "/.kvdrive/sign-in", form, `key=${PROJECT_KEY}`);
  assertEquals(signedIn.status, 303);
  const cookie = signedIn.header("set-cookie") ?? "";
  assertMatch(cookie, /HttpOnly; SameSite=Lax; Secure$/);
  const session = { Cookie: `other=1; ${cookie.split(";")[0]}` };
  const inside = await hosted.ask("GET", "/", session);
  assertEquals(inside.status, 200);
  assertEquals(headerOf(inside, "cookie"), "other=1");
});

test("The application gets the headers of the gate and no hop-by-hop headers.", async () => {
  await using hosted = await Hosted.start();
  const asked = await hosted.ask("POST", "/x", {
    "X-API-Key": hosted.key,
    "X-Forwarded-Host": "evil.example",
    "X-Auth-Key-Name": "evil",
    "X-Other": "kept",
    "Proxy-Authorization": "none",
  }, "some text");
  const echo = JSON.parse(asked.body) as Echo;
  assertEquals([echo.method, echo.body], ["POST", "some text"]);
  const seen = (name: string) => headerOf(asked, name);
  assertEquals(seen("x-forwarded-host"), HOST);
  assertEquals(seen("x-forwarded-proto"), "https");
  assertEquals(seen("x-auth-key-name"), "ci");
  assertEquals(seen("x-other"), "kept");
  assertEquals(seen("host"), new URL(hosted.app.origin).host);
  for (const name of ["x-api-key", "proxy-authorization"]) assertEquals(seen(name), undefined);
});

test("A forwarded answer and the application have the id of the request.", async () => {
  await using hosted = await Hosted.start();
  const key = { "X-API-Key": hosted.key };
  const idsOf = async (headers: Record<string, string>) => {
    const answer = await hosted.ask("GET", "/", headers);
    return [headerOf(answer, "x-request-id"), answer.header("x-request-id")];
  };
  assertEquals(await idsOf({ ...key, "X-Request-Id": "Caller-1" }), ["Caller-1", "Caller-1"]);
  const [sent = "", answered] = await idsOf({ ...key, "X-Request-Id": "with blanks" });
  assertMatch(sent, /^[0-9a-f-]{36}$/);
  assertEquals(answered, sent);
});

test("An answer that cannot be forwarded is an error, and one that breaks is cut off.", async () => {
  await using hosted = await Hosted.start({ KVDRIVE_APPS_TIMEOUT: "2s" });
  const key = { "X-API-Key": hosted.key };
  const upgrade = { ...key, Connection: "Upgrade", Upgrade: "websocket" };
  assertEquals((await hosted.ask("GET", "/ws", upgrade)).status, 501);
  assertEquals((await hosted.ask("GET", "/never", key)).status, 504);
  const large = await hosted.ask("GET", "/download?size=3000000", key);
  assertEquals([large.status, large.body.length], [200, 3_000_000]);
  const early = await hosted.ask("GET", "/early", key);
  assertEquals([early.status, early.body], [413, "no"]);
  // An answer without end ends with the right to it.
  const endless = hosted.ask("GET", "/events", key).then(() => "whole", () => "broken");
  await hosted.app.events.reach(1);
  await hosted.revoke();
  assertEquals(await endless, "broken");
  await hosted.app[Symbol.asyncDispose]();
  assertEquals((await hosted.ask("GET", "/", { "X-API-Key": PROJECT_KEY })).status, 502);
});

function headerOf({ body }: RawAnswer, wanted: string): string | undefined {
  return (JSON.parse(body) as Echo).headers.find(([name]) => name === wanted)?.[1];
}

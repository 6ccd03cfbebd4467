import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { OpenServer } from "./library.ts";
import { FILES, PROJECT, send, TOKEN, withServer } from "./test_support.ts";

const BASE = "/my/files";
const OPTIONS = { basePath: BASE };
const ADMIN = { Authorization: `Bearer ${TOKEN}` };

/** Signs a browser in. Returns the cookie's attributes, and the headers of its requests. */
async function signIn(server: OpenServer, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ secret: TOKEN });
  const { headers: answered, text } = await send(server, "POST", `${BASE}/dashboard/session`, {
    body,
    headers,
  });
  const cookie = answered.get("set-cookie") ?? "";
  const [pair = ""] = cookie.split(";");
  const csrf = JSON.parse(text).session.csrf;
  return { cookie, headers: { Cookie: pair, "X-Kvdrive-Session": csrf, "X-Api-Key": "" } };
}

Deno.test("every route is below the base path, and only there", async () => {
  await withServer(OPTIONS, async (server) => {
    await server.connect().drive("d").put("a", "1");
    const paths = ["/healthz", "/readyz", "/openapi.json", "/", "", FILES, `/v1/${PROJECT}`];
    for (const path of paths) {
      assertEquals((await send(server, "GET", BASE + path)).status, 200, path);
      const outside = await send(server, "GET", path);
      assertEquals(outside.status, 404, path);
      const { code, errors: [sentence] } = JSON.parse(outside.text);
      assertEquals(code, "route_not_found");
      assertStringIncludes(sentence, `${BASE}/v1/{project_id}`);
      assert(outside.headers.has("x-request-id"));
    }
    const metrics = await send(server, "GET", `${BASE}/metrics`, { headers: ADMIN });
    assertEquals(metrics.status, 200);
  });
});

Deno.test("paths that only look like the base path are outside of it", async () => {
  await withServer(OPTIONS, async (server) => {
    const paths = [
      "/my/filesx/healthz",
      "/my/files%2Fhealthz",
      "/my/%66iles/healthz",
      "//my/files/healthz",
      "/MY/files/healthz",
      "/my//files/healthz",
      "/x/my/files/healthz",
      "/my/files//healthz",
      "/my",
    ];
    for (const path of paths) {
      assertEquals((await send(server, "GET", path)).status, 404, path);
    }
    assertEquals((await send(server, "GET", "/my/x/../files/healthz")).status, 200);
  });
});

Deno.test("names with dots are names below the base path, too", async () => {
  await withServer(OPTIONS, async (server) => {
    for (const drive of ["..", ".", "...", "%2e%2e"]) {
      const files = server.connect().drive(drive);
      await files.put("../../../x", drive);
      assertEquals(await (await files.get("../../../x"))?.text(), drive);
    }
    assertEquals((await send(server, "GET", `${BASE}/v1/${PROJECT}/..%2f/files`)).status, 400);
  });
});

Deno.test("the dashboard and its files are below the base path", async () => {
  await withServer(OPTIONS, async (server) => {
    const session = await signIn(server);
    for (const headers of [{ "X-Api-Key": "" }, session.headers]) {
      for (const address of [BASE, `${BASE}/`]) {
        const page = await send(server, "GET", address, { headers });
        const paths = [...page.text.matchAll(/(?:src|href|content)="(\/[^"]*)"/g)];
        assert(paths.length >= 3, page.text);
        for (const [, path = ""] of paths) {
          assert(path.startsWith(`${BASE}/dashboard/assets/`), path);
          assertEquals((await send(server, "GET", path)).status, 200, path);
        }
      }
    }
  });
});

Deno.test("the cookie of the dashboard is for the base path only", async () => {
  await withServer({ ...OPTIONS, trustedProxy: "192.0.2.1" }, async (server) => {
    const { cookie, headers } = await signIn(server);
    assertMatch(cookie, /^kvdrive_dashboard=\w+; Path=\/my\/files; /);
    const projects = await send(server, "GET", `${BASE}/admin/v1/projects`, { headers });
    assertEquals(projects.status, 200);
    const signedOut = await send(server, "DELETE", `${BASE}/dashboard/session`, { headers });
    assertMatch(signedOut.headers.get("set-cookie") ?? "", /=; Path=\/my\/files; Max-Age=0;/);
    assertEquals((await send(server, "GET", `${BASE}/admin/v1/projects`, { headers })).status, 401);
  });
  await withServer({ ...OPTIONS, publicUrl: "https://kv.example" }, async (server) => {
    const { cookie, headers } = await signIn(server);
    assertMatch(cookie, /^__Secure-kvdrive_dashboard=\w+; Path=\/my\/files; .*; Secure$/);
    const projects = await send(server, "GET", `${BASE}/admin/v1/projects`, { headers });
    assertEquals(projects.status, 200);
  });
});

Deno.test("addresses of links, tickets and sign-in codes are below the base path", async () => {
  await withServer(OPTIONS, async (server) => {
    const drive = server.connect().drive("d");
    await drive.put("a.mp3", "sound", { contentType: "audio/mpeg" });
    const created = await send(server, "POST", `${BASE}/v1/${PROJECT}/d/links`, {
      body: JSON.stringify({ name: "a.mp3", password: "secret" }),
    });
    const { url } = JSON.parse(created.text);
    assert(url.startsWith(`http://kv.example${BASE}/s/`), url);
    const { pathname } = new URL(url);

    const opened = await send(server, "POST", pathname, {
      body: "password=secret",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    });
    assertEquals([opened.status, opened.headers.get("location")], [303, pathname]);
    const cookie = opened.headers.get("set-cookie") ?? "";
    assertStringIncludes(cookie, `; Path=${pathname};`);
    const played = await send(server, "GET", pathname, {
      headers: { Accept: "text/html", Cookie: cookie.split(";")[0] ?? "" },
    });
    assertEquals([played.status, played.headers.get("location")], [303, `${pathname}?preview`]);

    const session = await signIn(server);
    const ticket = await send(server, "POST", `${BASE}/dashboard/downloads`, {
      body: JSON.stringify({ project_id: PROJECT, drive_name: "d", names: ["a.mp3"] }),
      headers: session.headers,
    });
    const address: string = JSON.parse(ticket.text).url;
    assert(address.startsWith(`${BASE}/dashboard/download/`), ticket.text);
    assertEquals((await send(server, "GET", `${address}?name=a.mp3`)).text, "sound");

    const code = await send(server, "POST", `${BASE}/admin/v1/sign-in-codes`, { headers: ADMIN });
    assertStringIncludes(JSON.parse(code.text).url, `http://kv.example${BASE}/#code=`);
  });
});

Deno.test("each server describes its own base path", async () => {
  const serversOf = async (server: OpenServer, base: string) =>
    JSON.parse((await send(server, "GET", `${base}/openapi.json`)).text).servers;
  await withServer(OPTIONS, async (first) => {
    await withServer({}, async (second) => {
      assertEquals(await serversOf(first, BASE), [{ url: BASE, description: "This server" }]);
      assertEquals(await serversOf(second, ""), [{ url: "/", description: "This server" }]);
    });
  });
});

Deno.test("links on a host of their own are below the base path", async () => {
  await withServer({ ...OPTIONS, shareHost: "share.example" }, async (server) => {
    await server.connect().drive("d").put("a.txt", "1");
    const created = await send(server, "POST", `${BASE}/v1/${PROJECT}/d/links`, {
      body: JSON.stringify({ name: "a.txt" }),
    });
    const { pathname, host } = new URL(JSON.parse(created.text).url);
    assertEquals(host, "share.example");
    assertEquals((await send(server, "GET", pathname, { host })).text, "1");
    assertEquals((await send(server, "GET", pathname)).status, 404);
    assertEquals((await send(server, "GET", `${BASE}/`, { host })).status, 404);
  });
});

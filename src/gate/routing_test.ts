import { assertEquals, assertRejects } from "@std/assert";
import { HttpError } from "../http/http_error.ts";
import { HostRules } from "../rules/hosts.ts";
import type { AppInfo } from "../store/accounts/apps.ts";
import { findRoute } from "./routing.ts";

const APP: AppInfo = { project: "p1", app: "a.b_c", created: 0, access: false };
const HOSTED: AppInfo = { ...APP, app: "hosted", host: "app.example.com" };

const apps = {
  find(project: string, app: string) {
    return Promise.resolve(project === APP.project && app === APP.app ? APP : undefined);
  },
  findByHost: (host: string) => Promise.resolve(host === HOSTED.host ? HOSTED : undefined),
};

const hosts = await HostRules.load({ own: ["files.example.com"], gate: ["apps.example.com"] });

async function routeOf(target: string, host: string | undefined = "localhost:8001") {
  const { app: { app }, prefix, target: rest } = await findRoute({ apps, hosts }, { host, target });
  return [app, prefix, rest];
}

async function statusOf(target: string): Promise<number> {
  const error = await assertRejects(() => routeOf(target), HttpError, "", target);
  return error.status;
}

Deno.test("The path after the first two segments reaches the application unchanged", async () => {
  const rests = [
    "/",
    "/x",
    "/x/",
    "//x//y",
    "/%zz%2e%2F%5c",
    "/...",
    "/.x/..y/x./y..",
    "/.kvdrive",
    "/?a=/../b\\",
    "/x?..",
    "/x;y=../",
    "/%252e%252e/x",
    "/a:b@c/[]{}|\"<>^`'",
  ];
  for (const rest of rests) {
    assertEquals(await routeOf(`/p1/a.b_c${rest}`), ["a.b_c", "/p1/a.b_c", rest]);
  }
  assertEquals(await routeOf("/p1/a.b_c"), ["a.b_c", "/p1/a.b_c", undefined]);
  assertEquals(await routeOf("/p1/a.b_c?x=/y"), ["a.b_c", "/p1/a.b_c", undefined]);
  assertEquals(await routeOf("/%70%31/a%2Eb_%63/%78", undefined), ["a.b_c", "/p1/a.b_c", "/%78"]);
});

Deno.test("A path that could lead out of the application is rejected", async () => {
  const rests = [
    "/..",
    "/../x",
    "/x/..",
    "/x/../y",
    "/./x",
    "/x/.",
    "/%2e%2e/x",
    "/%2E./x",
    "/.%2e",
    "/%2e",
    "/x%2f..%2fy",
    "/x%2F%2e%2e",
    "/x%5c..%5Cy",
    "/..%5c",
    "/\\x",
    "/x\\..\\y",
    "/..;/x",
    "/..%3Bx/y",
    "/x/..?y",
    "//..",
  ];
  for (const rest of rests) assertEquals(await statusOf(`/p1/a.b_c${rest}`), 400, rest);
});

Deno.test("A path without an application is not found", async () => {
  const targets = [
    "/",
    "//",
    "/p1",
    "/p1/",
    "/p1?/a.b_c/",
    "//p1/a.b_c/",
    "/p1//a.b_c/",
    "/p1/hosted%2f",
    "/p1%2fa.b_c/x",
    "/../p1/a.b_c/x",
    "*",
  ];
  for (const target of targets) assertEquals(await statusOf(target), 404, target);
  for (const target of ["/%zz/a/", "/p1/%e9/", "/p1/%/"]) {
    assertEquals(await statusOf(target), 400, target);
  }
});

Deno.test("Under an application's host name all paths are its own", async () => {
  const hosts = [
    "app.example.com",
    "App.Example.COM:8001",
    "app.example.com.",
    "app.example.com.:1",
  ];
  for (const host of hosts) {
    for (const target of ["/", "/../x", "/p1/a.b_c/x", "//", "*"]) {
      assertEquals(await routeOf(target, host), ["hosted", "", target]);
    }
  }
});

Deno.test("Applications are found by path under the gate's own names only", async () => {
  const own = [
    "[::1]:80",
    "127.0.0.1",
    "LOCALHOST.:1",
    "apps.example.com",
    "Apps.Example.com.:8001",
  ];
  for (const host of own) {
    assertEquals(await routeOf("/p1/a.b_c/x", host), ["a.b_c", "/p1/a.b_c", "/x"], host);
  }
  const others = [
    "files.example.com",
    "app.example.com.evil.example",
    "x.app.example.com",
    "x.apps.example.com",
    "a",
    "127.1",
    "app.example.com..",
    "com",
    "app_.example.com",
    "[::1",
  ];
  for (const host of others) {
    const find = () => routeOf("/p1/a.b_c/x", host);
    assertEquals((await assertRejects(find, HttpError, "", host)).status, 404);
  }
});

Deno.test("A host name that cannot be claimed is not found even if it is stored", async () => {
  const everywhere = { find: apps.find, findByHost: () => Promise.resolve(HOSTED) };
  const find = (host: string) => findRoute({ apps: everywhere, hosts }, { host, target: "/" });
  assertEquals((await find("mine.example.com")).app, HOSTED);
  for (const host of ["files.example.com", "com", "co.uk", "github.io"]) {
    assertEquals((await assertRejects(() => find(host), HttpError)).status, 404);
  }
});

Deno.test("A missing application looks like a protected one", async () => {
  for (const target of ["/p1/none/x", "/p2/a.b_c/x", "/P1/a.b_c/x"]) {
    const { app, exists } = await findRoute({ apps, hosts }, { host: "localhost", target });
    assertEquals([app.access, exists], [true, false], target);
  }
});

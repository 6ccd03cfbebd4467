import { assertEquals, assertRejects } from "@std/assert";
import { HttpError } from "../http/http_error.ts";
import type { AppInfo } from "../store/app_store.ts";
import { findPlace } from "./find_place.ts";

const APP: AppInfo = { project: "p1", app: "a.b_c", created: 0, access: false };
const HOSTED: AppInfo = { ...APP, app: "hosted", host: "app.example.com" };

const apps = {
  find(project: string, app: string) {
    return Promise.resolve(project === APP.project && app === APP.app ? APP : undefined);
  },
  findByHost: (host: string) => Promise.resolve(host === HOSTED.host ? HOSTED : undefined),
};

async function place(target: string, host: string | undefined = "localhost:8001") {
  const { app: { app }, prefix, target: rest } = await findPlace(apps, { host, target });
  return [app, prefix, rest];
}

async function statusOf(target: string): Promise<number> {
  const error = await assertRejects(() => place(target), HttpError, "", target);
  return error.status;
}

Deno.test("What stands behind the first two segments goes on as it came", async () => {
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
    assertEquals(await place(`/p1/a.b_c${rest}`), ["a.b_c", "/p1/a.b_c", rest]);
  }
  assertEquals(await place("/p1/a.b_c"), ["a.b_c", "/p1/a.b_c", undefined]);
  assertEquals(await place("/p1/a.b_c?x=/y"), ["a.b_c", "/p1/a.b_c", undefined]);
  assertEquals(await place("/%70%31/a%2Eb_%63/%78", undefined), ["a.b_c", "/p1/a.b_c", "/%78"]);
});

Deno.test("A path that could lead out of the application is refused", async () => {
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

Deno.test("What is no application is not found", async () => {
  const targets = [
    "/",
    "//",
    "/p1",
    "/p1/",
    "/p1?/a.b_c/",
    "/p1/a",
    "/p2/a.b_c/",
    "//p1/a.b_c/",
    "/p1//a.b_c/",
    "/P1/a.b_c/",
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

Deno.test("Under an application's own host name everything is its own", async () => {
  const hosts = [
    "app.example.com",
    "App.Example.COM:8001",
    "app.example.com.",
    "app.example.com.:1",
  ];
  for (const host of hosts) {
    for (const target of ["/", "/../x", "/p1/a.b_c/x", "//", "*"]) {
      assertEquals(await place(target, host), ["hosted", "", target]);
    }
  }
  for (const host of ["app.example.com.evil.example", "x.app.example.com", "[::1]:80"]) {
    assertEquals(await place("/p1/a.b_c/x", host), ["a.b_c", "/p1/a.b_c", "/x"]);
  }
});

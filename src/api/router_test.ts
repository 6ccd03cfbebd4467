import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { HttpError } from "../http/http_error.ts";
import { allowedMethods, findRoute, type Handler, route } from "./router.ts";

const get: Handler = () => Promise.resolve(new Response("get"));
const post: Handler = () => Promise.resolve(new Response("post"));

const routes = [
  route("/v1/:project", { GET: get }),
  route("/v1/:project/:drive/files", { GET: get, POST: post, DELETE: post }),
  route("/v1/:project/:drive/files/download", { GET: get }),
  route("/v1/:project/:drive/uploads/:id", { PATCH: post }),
];

Deno.test("A path finds its route and what stands in it, percent-encoded", () => {
  const cases = [
    ["v1/p", 0, { project: "p" }],
    ["v1/a%2Fb", 0, { project: "a%2Fb" }],
    ["v1/p/d/files", 1, { project: "p", drive: "d" }],
    ["v1/../%2e/files", 1, { project: "..", drive: "%2e" }],
    ["v1/files/files/files", 1, { project: "files", drive: "files" }],
    ["v1/constructor/__proto__/files", 1, { project: "constructor", drive: "__proto__" }],
    ["v1/p/d/files/download", 2, { project: "p", drive: "d" }],
    ["v1/p/d/uploads/u1", 3, { project: "p", drive: "d", id: "u1" }],
  ] as const;
  for (const [path, index, params] of cases) {
    const found = findRoute(routes, path.split("/"));
    assertEquals(found.params, params, path);
    assertStrictEquals(found.methods, routes[index]?.methods, path);
  }
});

Deno.test("A path of no route is not found", () => {
  const paths = [
    "",
    "v1",
    "v1/",
    "V1/p",
    "v2/p",
    "v1/p/",
    "v1/p/d",
    "v1/p/d/",
    "v1/p/d/files/",
    "v1/p//files",
    "v1//d/files",
    "v1/p/d/Files",
    "v1/p/d/file%73",
    "v1/p/d/uploads/",
    "v1/p/d/uploads/u1/parts",
    "/v1/p",
    "v1/p/d/files/download/x",
    ":project",
  ];
  for (const path of paths) {
    const error = assertThrows(() => findRoute(routes, path.split("/")), HttpError);
    assertEquals(error.status, 404, path);
  }
});

Deno.test("HEAD is answered where GET is, by the same handler", () => {
  const { methods } = route("/a", { GET: get, POST: post });
  assertStrictEquals(methods["HEAD"], get);
  assertEquals(Object.hasOwn(route("/a", { POST: post }).methods, "HEAD"), false);
});

Deno.test("The allowed methods are those of the route, with HEAD beside GET, and OPTIONS", () => {
  const cases = [
    [{ GET: get }, "GET HEAD OPTIONS"],
    [{ GET: get, POST: post, DELETE: post }, "DELETE GET HEAD OPTIONS POST"],
    [{ PATCH: post }, "OPTIONS PATCH"],
    [{}, "OPTIONS"],
  ] as const;
  for (const [methods, wanted] of cases) {
    const allowed = allowedMethods(route("/a", methods).methods);
    assertEquals(allowed.split(", ").toSorted().join(" "), wanted);
  }
});

Deno.test("Only methods of the route's own are its methods", () => {
  const { methods } = findRoute(routes, ["v1", "p"]);
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty", "get", "PUT"]) {
    assertEquals(Object.hasOwn(methods, name), false, name);
  }
});

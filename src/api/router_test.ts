import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { HttpError } from "../http/http_error.ts";
import { publicEndpoint } from "./endpoint.ts";
import { allowedMethods, findEndpoint, findRoute, route } from "./router.ts";

function endpoint(id: string) {
  const operation = { id, tag: "Files" as const, summary: id, success: {} };
  return publicEndpoint(operation, () => Promise.resolve(new Response(id)));
}

const get = endpoint("get");
const post = endpoint("post");

const routes = [
  route("/v1/:project", { GET: get }),
  route("/v1/:project/:drive/files", { GET: get, POST: post, DELETE: post }),
  route("/v1/:project/:drive/files/download", { GET: get }),
  route("/v1/:project/:drive/uploads/:id", { PATCH: post }),
];

Deno.test("a path has a route and percent-encoded parameters", () => {
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
    assertStrictEquals(found.route, routes[index], path);
  }
});

Deno.test("a path without a route is 404", () => {
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

Deno.test("the endpoint of GET also answers HEAD", () => {
  const both = route("/a", { GET: get, POST: post });
  assertStrictEquals(findEndpoint(both, "HEAD"), get);
  assertStrictEquals(findEndpoint(both, "POST"), post);
  assertEquals(findEndpoint(route("/a", { POST: post }), "HEAD"), undefined);
});

Deno.test("the Allow header lists the methods of the route, HEAD beside GET, and OPTIONS", () => {
  const cases = [
    [{ GET: get }, "GET, HEAD, OPTIONS"],
    [{ GET: get, POST: post, DELETE: post }, "GET, POST, DELETE, HEAD, OPTIONS"],
    [{ PATCH: post }, "PATCH, OPTIONS"],
    [{}, "OPTIONS"],
  ] as const;
  for (const [endpoints, wanted] of cases) {
    assertEquals(allowedMethods(route("/a", endpoints)), wanted);
  }
});

Deno.test("a method that is not in the table has no endpoint, even if every object has such a property", () => {
  const { route } = findRoute(routes, ["v1", "p"]);
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty", "get", "PUT"]) {
    assertEquals(findEndpoint(route, name), undefined, name);
  }
});

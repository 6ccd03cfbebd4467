import { assertEquals } from "@std/assert";
import { routes } from "./app.ts";
import { openApiDocument } from "./openapi/document.ts";
import { METHODS } from "./openapi/types.ts";

/** `/v1/:project/files` as `/v1/{}/files`: what stands in the braces is told by the description alone. */
function shapeOf(pattern: readonly string[]): string {
  return `/${pattern.map((part) => /^(:.*|\{.*\})$/.test(part) ? "{}" : part).join("/")}`;
}

/** `GET /v1/{}/files`, in an order that does not depend on where they are written. */
function sorted(entries: readonly [string, readonly string[]][]): string[] {
  return entries.flatMap(([path, methods]) => methods.map((method) => `${method} ${path}`)).sort();
}

Deno.test("Every path and method that the server answers is described, and no other.", () => {
  const answered = routes.map(({ pattern, methods }): [string, string[]] => [
    shapeOf(pattern),
    // `OPTIONS` is answered on every path.
    [...Object.keys(methods), "OPTIONS"],
  ]);
  const described = Object.entries(openApiDocument.paths).map((
    [path, item],
  ): [string, string[]] => [
    shapeOf(path.slice(1).split("/")),
    METHODS.filter((method) => item[method] !== undefined).map((method) => method.toUpperCase()),
  ]);
  assertEquals(sorted(described), sorted(answered));
});

import { assertEquals } from "@std/assert";
import { routes } from "./app.ts";
import { describeRoutes } from "./openapi/document.ts";
import { METHODS } from "./openapi/types.ts";

const description = describeRoutes(routes);

const operations = Object.values(description.paths).flatMap((item) =>
  METHODS.flatMap((method) => item[method] ?? [])
);

/** Every `$ref` inside a value. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" ? [String(inner)] : referencesIn(inner)
  );
}

Deno.test("every reference has its component, and every component is referred to", () => {
  const used = new Set(referencesIn(description));
  const there = Object.entries(description.components).flatMap(([kind, components]) =>
    Object.keys(components).map((name) => `#/components/${kind}/${name}`)
  );
  // Security schemes are referred to by name, and no operation describes 405.
  const byName = there.filter((path) =>
    path.includes("/securitySchemes/") || path.endsWith("/responses/MethodNotAllowed")
  );
  assertEquals([...used, ...byName].sort(), there.sort());
});

Deno.test("every parameter in braces is described for its path", () => {
  for (const [path, item] of Object.entries(description.paths)) {
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const described = item.parameters.flatMap((one) => {
      const { parameters } = description.components;
      const name = "$ref" in one ? one.$ref.slice(one.$ref.lastIndexOf("/") + 1) : "";
      const parameter = parameters?.[name] as { name: string; in: string };
      return parameter.in === "path" ? [parameter.name] : [];
    });
    assertEquals(described, wanted, path);
  }
});

Deno.test("every operation has its own id, a summary, and a sentence for each status", () => {
  const ids = operations.map(({ operationId }) => operationId);
  assertEquals(new Set(ids).size, ids.length);
  for (const { operationId, summary, responses } of operations) {
    const texts = Object.values(responses).map(({ description = "" }) => description);
    for (const text of [summary, ...texts]) {
      assertEquals(text.length > 5 && text.trim() === text, true, `${operationId}: ${text}`);
    }
  }
});

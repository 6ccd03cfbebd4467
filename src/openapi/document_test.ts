// It brings the official schemas of OpenAPI along, and needs no more than the Ajv that the tests have anyway.
import { Validator } from "@seriousme/openapi-schema-validator";
import { assertEquals } from "@std/assert";
import { openApiDocument } from "./document.ts";
import { METHODS } from "./types.ts";

const operations = Object.values(openApiDocument.paths).flatMap((item) =>
  METHODS.flatMap((method) => item[method] ?? [])
);

/** Every `$ref` below a value. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" ? [String(inner)] : referencesIn(inner)
  );
}

Deno.test("The description is one by the official schema of OpenAPI 3.1.", async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(openApiDocument)));
  assertEquals(errors, undefined);
  assertEquals([valid, validator.version], [true, "3.1"]);
});

Deno.test("Every reference leads to something, and every component is referred to.", () => {
  const used = new Set(referencesIn(openApiDocument));
  const there = Object.entries(openApiDocument.components).flatMap(([kind, components]) =>
    Object.keys(components).map((name) => `#/components/${kind}/${name}`)
  );
  // Security schemes are referred to by their names, and a method that is not described is answered by no operation.
  const byName = there.filter((path) =>
    path.includes("/securitySchemes/") || path.endsWith("/responses/MethodNotAllowed")
  );
  assertEquals([...used, ...byName].sort(), there.sort());
});

Deno.test("Every parameter in braces is described for its path.", () => {
  for (const [path, item] of Object.entries(openApiDocument.paths)) {
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const described = item.parameters.flatMap((one) => {
      const { parameters } = openApiDocument.components;
      const name = "$ref" in one ? one.$ref.slice(one.$ref.lastIndexOf("/") + 1) : "";
      const parameter = parameters?.[name] as { name: string; in: string };
      return parameter.in === "path" ? [parameter.name] : [];
    });
    assertEquals(described, wanted, path);
  }
});

Deno.test("Every operation has an id of its own, a summary, and a sentence for each status.", () => {
  const ids = operations.map(({ operationId }) => operationId);
  assertEquals(new Set(ids).size, ids.length);
  for (const { operationId, summary, responses } of operations) {
    const texts = Object.values(responses).map(({ description = "" }) => description);
    for (const text of [summary, ...texts]) {
      assertEquals(text.length > 5 && text.trim() === text, true, `${operationId}: ${text}`);
    }
  }
});

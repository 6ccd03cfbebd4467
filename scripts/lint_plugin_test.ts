import { assertEquals } from "@std/assert";
import plugin from "./lint_plugin.ts";

const ROOT = new URL("../", import.meta.url).pathname;

interface Case {
  /** The path of the linted file, relative to the project. */
  file: string;
  source: string;
  /** The messages expected; none for a source that the plugin accepts. */
  found?: string[];
}

function lint(file: string, source: string): Deno.lint.Diagnostic[] {
  return Deno.lint.runPlugin(plugin, ROOT + file, source);
}

function assertCases(rule: string, cases: readonly Case[]): void {
  for (const { file, source, found = [] } of cases) {
    const about = lint(file, source).filter((one) => one.id === `kvdrive/${rule}`);
    assertEquals(about.map((one) => one.message), found, `${file}: ${source}`);
  }
}

/** Returns `count` lines: `open`, statements, `close`. */
function block(open: string, count: number, close: string): string {
  return [open, ...new Array<string>(count - 2).fill("  void 0;"), close].join("\n");
}

Deno.test("Every form of a function may have 80 lines.", () => {
  const found = ["A function has 81 lines, more than 80"];
  assertCases("function-length", [
    { file: "src/app.ts", source: block("function a() {", 80, "}") },
    { file: "src/app.ts", source: block("function a() {", 81, "}"), found },
    { file: "src/app.ts", source: block("const a = () => {", 80, "};") },
    { file: "src/app.ts", source: block("const a = () => {", 81, "};"), found },
    { file: "tests/a_test.ts", source: block("Deno.test(async function () {", 81, "});"), found },
    { file: "main.ts", source: `class A {\n${block("a() {", 80, "}")}\n}` },
    { file: "main.ts", source: `class A {\n${block("a() {", 81, "}")}\n}`, found },
    { file: "main.ts", source: `${block("function a() {", 50, "}\n")}`.repeat(2) },
  ]);
});

Deno.test("Only the first line of a function that is too long is marked.", () => {
  const source = `// 😀\n${block("function a() {", 81, "}")}`;
  const [only] = lint("src/app.ts", source);
  assertEquals(source.slice(...(only?.range ?? [])), "function a() {");
});

Deno.test("A file may have 400 lines, with or without a newline at its end.", () => {
  const found = ["A file has 401 lines, more than 400"];
  assertCases("file-length", [
    { file: "src/app.ts", source: "void 0;\n".repeat(400) },
    { file: "src/app.ts", source: "void 0;\n".repeat(401), found },
    { file: "src/app.ts", source: "void 0;\n".repeat(399) + "void 0;" },
    { file: "src/app.ts", source: "void 0;\n".repeat(400) + "void 0;", found },
    { file: "tests/a_test.ts", source: "// a comment\n".repeat(401), found },
    { file: "src/app.ts", source: "" },
  ]);
});

Deno.test("A folder may import itself and the folders below it.", () => {
  const accepted = [
    ["src/rules/a.ts", "./b.ts"],
    ["src/rules/a_test.ts", "@std/assert"],
    ["src/app_test.ts", "@std/assert"],
    ["src/store/engine/a.ts", "../disk/b.ts"],
    ["src/store/engine/a.ts", "../../rules/b.ts"],
    ["src/store/store.ts", "./files/b.ts"],
    ["src/store/testing/a.ts", "../store.ts"],
    ["src/http/a.ts", "../store/files/b.ts"],
    ["src/http/a.ts", "./network/b.ts"],
    ["src/openapi/a.ts", "../rules/b.ts"],
    ["src/api/files/a.ts", "../../openapi/b.ts"],
    ["src/api/files/a.ts", "../router.ts"],
    ["src/api/server/a.ts", "../../gate/b.ts"],
    ["src/gate/a.ts", "../http1/a.ts"],
    ["src/cli/serve/a.ts", "../../gate/b.ts"],
    ["src/cli/main.ts", "./commands/b.ts"],
    ["src/cli/a.ts", "../client/archive/b.ts"],
    ["src/cli/a.ts", "../app.ts"],
    ["src/dashboard/views/a.js", "../core/b.js"],
    ["src/app.ts", "./api/b.ts"],
    ["src/version.ts", "../deno.json"],
    ["main.ts", "./src/cli/a.ts"],
    ["scripts/a.ts", "../src/store/b.ts"],
    ["tests/a_test.ts", "./support/b.ts"],
    ["src/rules/a.ts", "npm:something@1.0.0"],
    ["src/rules/a.ts", "node:crypto"],
  ];
  assertCases(
    "import-direction",
    accepted.map(([file = "", to]) => ({ file, source: `import { x } from "${to}";` })),
  );
});

Deno.test("A test may import every layer of its subject, and no other subject above it.", () => {
  const store = `import { Store } from "../store.ts";`;
  const support = `import { Bench } from "../testing/bench.ts";`;
  const found = ["src/store/files/ may not import from src/http/"];
  assertCases("import-direction", [
    { file: "src/store/files/a_test.ts", source: store },
    { file: "src/store/files/a_test.ts", source: support },
    { file: "src/store/files/a_test.ts", source: `import "../../http/b.ts";`, found },
  ]);
});

Deno.test("An import upwards, out of src/, or from the tests into the server is refused.", () => {
  const blackBox = "Tests drive the running server and import nothing from it";
  const refused = [
    ["src/rules/a.ts", "../store/b.ts", "src/rules/ may not import from src/store/"],
    ["src/rules/a_test.ts", "../http/b.ts", "src/rules/ may not import from src/http/"],
    ["src/dashboard/a.js", "../rules/b.ts", "src/dashboard/ may not import from src/rules/"],
    ["src/api/a.ts", "../dashboard/b.js", "src/api/ may not import from src/dashboard/"],
    ["src/gate/a.ts", "../api/b.ts", "src/gate/ may not import from src/api/"],
    ["src/openapi/a.ts", "../http/b.ts", "src/openapi/ may not import from src/http/"],
    ["src/http/a.ts", "../openapi/b.ts", "src/http/ may not import from src/openapi/"],
    ["src/http/a.ts", "../gate/b.ts", "src/http/ may not import from src/gate/"],
    ["src/http/a.ts", "../api/b.ts", "src/http/ may not import from src/api/"],
    [
      "src/store/files/a.ts",
      "../accounts/b.ts",
      "src/store/files/ may not import from src/store/accounts/",
    ],
    ["src/store/files/a.ts", "../store.ts", "src/store/files/ may not import from src/store/"],
    [
      "src/store/disk/a.ts",
      "../engine/b.ts",
      "src/store/disk/ may not import from src/store/engine/",
    ],
    ["src/client/a.ts", "./archive/b.ts", "src/client/ may not import from src/client/archive/"],
    ["src/client/a.ts", "../store/b.ts", "src/client/ may not import from src/store/"],
    ["src/api/a.ts", "../app.ts", "src/api/ may not import from src/"],
    ["src/store/a.ts", "../cli/b.ts", "src/store/ may not import from src/cli/"],
    ["src/app.ts", "./cli/b.ts", "src/ may not import from src/cli/"],
    [
      "src/cli/serve/a.ts",
      "../commands/b.ts",
      "src/cli/serve/ may not import from src/cli/commands/",
    ],
    ["src/app.ts", "../main.ts", "src/ may not import from ./"],
    ["src/cli/a.ts", "../../scripts/b.ts", "src/cli/ may not import from scripts/"],
    [
      "src/http/a_test.ts",
      "../../tests/support/b.ts",
      "src/http/ may not import from tests/support/",
    ],
    ["src/new/a.ts", "./b.ts", "src/new/ has no entry in LAYERS of scripts/lint_plugin.ts"],
    ["tests/a_test.ts", "../src/rules/b.ts", blackBox],
    ["tests/support/a.ts", "../../src/app.ts", blackBox],
    ["tests/a_test.ts", "../main.ts", blackBox],
  ];
  assertCases(
    "import-direction",
    refused.map(([file = "", to, message = ""]) => {
      return { file, source: `import { x } from "${to}";`, found: [message] };
    }),
  );
});

Deno.test("Every form of an import counts.", () => {
  const found = ["src/rules/ may not import from src/store/"];
  const file = "src/rules/a.ts";
  assertCases("import-direction", [
    { file, source: `import type { X } from "../store/b.ts";`, found },
    { file, source: `import "../store/b.ts";`, found },
    { file, source: `export * from "../store/b.ts";`, found },
    { file, source: `export { x } from "../store/b.ts";`, found },
    { file, source: `export const load = () => import("../store/b.ts");`, found },
    { file, source: `export type X = import("../store/b.ts").X;`, found },
    { file, source: `export const path = "../store/b.ts";` },
    { file, source: `const x = 1;\nexport { x };` },
    { file, source: `export const load = (path: string) => import(path);` },
  ]);
});

Deno.test("Only src/store/ knows the key-value store, and scripts/ may measure it.", () => {
  const open = "export const kv = await Deno.openKv();";
  const type = "export type Key = Deno.KvKey;";
  const sqlite = `import { DatabaseSync } from "node:sqlite";`;
  const found = ["Only src/store/ may use Deno.openKv"];
  assertCases("platform-access", [
    { file: "src/store/a.ts", source: open },
    { file: "scripts/bench.ts", source: open },
    { file: "tests/faults/support/a.ts", source: open },
    { file: "src/app.ts", source: open, found },
    { file: "main.ts", source: open, found },
    { file: "tests/a_test.ts", source: open, found },
    { file: "src/store/a.ts", source: type },
    { file: "src/rules/a.ts", source: type, found: ["Only src/store/ may use Deno.KvKey"] },
    { file: "src/rules/a.ts", source: "export const name = 'Deno.openKv';" },
    { file: "src/rules/a.ts", source: "// Deno.openKv is slow\nexport const a = Deno.args;" },
  ]);
  assertCases("import-direction", [
    { file: "src/store/a.ts", source: sqlite },
    { file: "scripts/bench.ts", source: sqlite },
    { file: "src/http/a.ts", source: sqlite, found: ["Only src/store/ may import node:sqlite"] },
    { file: "main.ts", source: sqlite, found: ["Only src/store/ may import node:sqlite"] },
  ]);
});

Deno.test("Only the layers that speak HTTP know requests, responses and headers.", () => {
  const refused = (name: string): string =>
    `Only src/http/, src/http1/, src/acme/, src/gate/, src/api/, src/openapi/, src/s3/, src/dav/, src/server/, src/cli/, src/client/, src/dashboard/ and src/app.ts may use ${name}`;
  const answer = "export const answer = () => new Response();";
  const accepted = [
    "src/http/a.ts",
    "src/gate/a.ts",
    "src/api/a.ts",
    "src/app.ts",
    "src/cli/a.ts",
    "main.ts",
  ];
  const file = "src/store/a.ts";
  const found = [refused("Headers")];
  assertCases("platform-access", [
    ...[...accepted, "tests/a_test.ts"].map((file) => ({ file, source: answer })),
    { file, source: answer, found: [refused("Response")] },
    { file: "src/config.ts", source: answer, found: [refused("Response")] },
    { file, source: "export const a = (b: unknown) => b instanceof Headers;", found },
    { file, source: "export const a = (headers: Headers) => headers.get('a');", found },
    { file, source: "export class A extends Headers {}", found },
    { file, source: "export const a = { Headers };", found },
    { file, source: "export const a = { Headers: 1 };" },
    { file, source: "export const a = (b: { Headers: string }) => b.Headers;" },
    { file, source: "export interface A { Request(): void; Response: string }" },
  ]);
});

Deno.test("The plugin ignores files outside the project.", () => {
  const source = `import "../store/b.ts";\nexport const kv = 1;`;
  assertEquals(Deno.lint.runPlugin(plugin, "/elsewhere/src/rules/a.ts", source), []);
});

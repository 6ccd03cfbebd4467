import { assertEquals } from "@std/assert";
import plugin from "./lint_plugin.ts";

const ROOT = new URL("../", import.meta.url).pathname;

interface Case {
  /** The file that is linted, below the project's folder. */
  file: string;
  source: string;
  /** What the plugin says, without the rule's prefix; nothing for a source that it accepts. */
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

/** `count` lines, of which the first opens and the last closes what stands around them. */
function block(open: string, count: number, close: string): string {
  return [open, ...new Array<string>(count - 2).fill("  void 0;"), close].join("\n");
}

Deno.test("A function may have 80 lines, whatever its form.", () => {
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

Deno.test("A function that is too long is marked at its first line alone.", () => {
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

Deno.test("A folder of src/ imports itself and what lies below it.", () => {
  const accepted = [
    ["src/drive/a.ts", "./b.ts"],
    ["src/drive/a_test.ts", "@std/assert"],
    ["src/app_test.ts", "@std/assert"],
    ["src/store/a.ts", "../drive/b.ts"],
    ["src/openapi/a.ts", "../drive/b.ts"],
    ["src/routes/a.ts", "../openapi/b.ts"],
    ["src/http/a.ts", "../store/b.ts"],
    ["src/http/a.ts", "../drive/b.ts"],
    ["src/routes/a.ts", "../http/b.ts"],
    ["src/routes/a.ts", "./b.ts"],
    ["src/routes/a.ts", "../gate/b.ts"],
    ["src/gate/a.ts", "../http/b.ts"],
    ["src/gate/a.ts", "../http1/a.ts"],
    ["src/cli/a.ts", "../gate/b.ts"],
    ["src/dashboard/views/a.js", "../core/b.js"],
    ["src/app.ts", "./routes/b.ts"],
    ["src/app.ts", "./config.ts"],
    ["src/cli/a.ts", "../app.ts"],
    ["src/cli/a.ts", "../../deno.json"],
    ["main.ts", "./src/cli/a.ts"],
    ["scripts/a.ts", "../src/store/b.ts"],
    ["tests/a_test.ts", "./support/b.ts"],
    ["src/drive/a.ts", "npm:something@1.0.0"],
    ["src/drive/a.ts", "node:crypto"],
  ];
  assertCases(
    "import-direction",
    accepted.map(([file = "", to]) => ({ file, source: `import { x } from "${to}";` })),
  );
});

Deno.test("An import upwards, out of src/, or from the tests into the server is refused.", () => {
  const blackBox = "The tests drive the running server and import nothing of it";
  const refused = [
    ["src/drive/a.ts", "../store/b.ts", "src/drive/ may not import from src/store/"],
    ["src/dashboard/a.js", "../drive/b.ts", "src/dashboard/ may not import from src/drive/"],
    ["src/routes/a.ts", "../dashboard/b.js", "src/routes/ may not import from src/dashboard/"],
    ["src/drive/a_test.ts", "../http/b.ts", "src/drive/ may not import from src/http/"],
    ["src/gate/a.ts", "../routes/b.ts", "src/gate/ may not import from src/routes/"],
    ["src/openapi/a.ts", "../http/b.ts", "src/openapi/ may not import from src/http/"],
    ["src/http/a.ts", "../openapi/b.ts", "src/http/ may not import from src/openapi/"],
    ["src/http/a.ts", "../gate/b.ts", "src/http/ may not import from src/gate/"],
    ["src/store/a.ts", "../http/b.ts", "src/store/ may not import from src/http/"],
    ["src/http/a.ts", "../routes/b.ts", "src/http/ may not import from src/routes/"],
    ["src/routes/a.ts", "../app.ts", "src/routes/ may not import from src/*.ts or src/cli/"],
    ["src/store/a.ts", "../cli/b.ts", "src/store/ may not import from src/*.ts or src/cli/"],
    ["src/app.ts", "../main.ts", "src/*.ts or src/cli/ may not import from main.ts"],
    ["src/cli/a.ts", "../../scripts/b.ts", "src/*.ts or src/cli/ may not import from scripts/"],
    ["src/http/a_test.ts", "../../tests/support/b.ts", "src/http/ may not import from tests/"],
    ["src/new/a.ts", "./b.ts", "src/new/ has no place in the layers of scripts/lint_plugin.ts"],
    ["tests/a_test.ts", "../src/drive/b.ts", blackBox],
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
  const found = ["src/drive/ may not import from src/store/"];
  const file = "src/drive/a.ts";
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
    { file: "src/drive/a.ts", source: type, found: ["Only src/store/ may use Deno.KvKey"] },
    { file: "src/drive/a.ts", source: "export const name = 'Deno.openKv';" },
    { file: "src/drive/a.ts", source: "// Deno.openKv is slow\nexport const a = Deno.args;" },
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
    `Only src/http/, src/http1/, src/gate/, src/routes/, src/cli/, src/client/, src/dashboard/ and src/app.ts may use ${name}`;
  const answer = "export const answer = () => new Response();";
  const accepted = [
    "src/http/a.ts",
    "src/gate/a.ts",
    "src/routes/a.ts",
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

Deno.test("A file outside of the project is none of the plugin's business.", () => {
  const source = `import "../store/b.ts";\nexport const kv = 1;`;
  assertEquals(Deno.lint.runPlugin(plugin, "/elsewhere/src/drive/a.ts", source), []);
});

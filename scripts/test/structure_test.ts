import { assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import testConfig from "../../tests/deno.json" with { type: "json" };
import { filesBelow, ROOT } from "../package/parts.ts";
import { findCycles, findLargeFolders, MAX_FILES, readImports } from "./structure.ts";

const FOLDERS = ["src", "scripts", "tests"];

/** Files at the root, and pages. */
const PROSE = ["docs", "main.ts", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];

/** Folders whose listing may be longer. */
const LARGE_FOLDERS = /^(src\/dashboard|tests\/browser)(\/|$)/;

/** Names that were replaced by plain ones. */
const REPLACED_NAMES = oneOf([
  "Believed",
  "HotFiles",
  "GoneThisSecond",
  "endReading",
  "demandRoom",
  "bringBack",
  "keepCompany",
  "tellItStaysOpen",
  "tellEnds",
], "");

/** Phrases that were replaced by plain ones. */
const REPLACED_PHRASES = oneOf([
  "nobody",
  "somebody",
  "whoever",
  "is taken for",
  "comes? to its end",
  "as it stands",
  "anew",
], "i");

function oneOf(words: readonly string[], flags: string): RegExp {
  return new RegExp(`\\b(${words.join("|")})\\b`, flags);
}

/** This file has the list, and the dashboard's names are its own. */
const UNCHECKED = /^(scripts\/test\/structure_test\.ts$|src\/dashboard\/|tests\/browser\/)/;

/** They describe such paths. */
const UNCHECKED_PATHS = /^scripts\/package\/parts(_test)?\.ts$/;

Deno.test("No source files import each other in a circle", async () => {
  const graph = await readImports(ROOT, FOLDERS);
  assertEquals(findCycles(graph), []);
});

/** A path beside a source, in the form that bundlers understand. */
const RELATIVE_URL = /new URL\(\s*"([^"]*[^"/])",\s*import\.meta\.url/g;

Deno.test("Every file that a source names by its path exists", async () => {
  const missing: string[] = [];
  for (const folder of FOLDERS) {
    for (const file of (await filesBelow(ROOT, folder)).filter((path) => path.endsWith(".ts"))) {
      if (UNCHECKED_PATHS.test(file)) continue;
      const base = new URL(file, `file://${ROOT}`);
      for (const [, path = ""] of (await Deno.readTextFile(base)).matchAll(RELATIVE_URL)) {
        if (!await exists(new URL(path, base))) missing.push(`${file}: ${path}`);
      }
    }
  }
  assertEquals(missing, []);
});

async function exists(url: URL): Promise<boolean> {
  try {
    await Deno.stat(url);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("No folder has more than 15 source files beside its tests", async () => {
  const files = await Promise.all(FOLDERS.map((folder) => filesBelow(ROOT, folder)));
  const code = files.flat().filter((path) => /\.(ts|js)$/.test(path));
  const large = findLargeFolders(code).filter((folder) => !LARGE_FOLDERS.test(folder));
  assertEquals(large, []);
});

Deno.test("Sources, tests, scripts and pages have none of the replaced names and phrases", async () => {
  const found: string[] = [];
  for (const place of [...FOLDERS, ...PROSE]) {
    const files = /\.\w+$/.test(place) ? [place] : await filesBelow(ROOT, place);
    for (const path of files.filter((path) => /\.(ts|js|sh|md)$/.test(path))) {
      if (UNCHECKED.test(path)) continue;
      const lines = (await Deno.readTextFile(ROOT + path)).split("\n");
      for (const [index, line] of lines.entries()) {
        const [word] = REPLACED_NAMES.exec(line) ?? REPLACED_PHRASES.exec(line) ?? [];
        if (word !== undefined) found.push(`${path}:${index + 1}: ${word}`);
      }
    }
  }
  assertEquals(found, []);
});

Deno.test("The tests have the rules of the program, and its versions of the packages that both use", () => {
  const { fmt, lint, unstable, nodeModulesDir, compilerOptions } = testConfig;
  const plugins = lint.plugins.map((path) => path.replace("../", "./"));
  const types = config.compilerOptions.types;
  assertEquals(
    { fmt, unstable, nodeModulesDir, lint: { ...lint, plugins } },
    {
      fmt: config.fmt,
      unstable: config.unstable,
      nodeModulesDir: config.nodeModulesDir,
      lint: config.lint,
    },
  );
  assertEquals({ ...compilerOptions, types }, config.compilerOptions);
  const versions: Record<string, string> = config.imports;
  for (const [name, version] of Object.entries(testConfig.imports)) {
    assertEquals(version, versions[name] ?? version, name);
  }
});

Deno.test("A circle of imports is found, and a chain is not", () => {
  const graph = new Map([["a", ["b"]], ["b", ["c"]], ["c", ["b", "d"]], ["d", []]]);
  assertEquals(findCycles(graph), [["b", "c"]]);
  assertEquals(findCycles(new Map([["a", ["a"]]])), [["a"]]);
});

Deno.test("Tests do not count among the source files of a folder", () => {
  const names = Array.from({ length: MAX_FILES }, (_, i) => `folder/file${i}.ts`);
  assertEquals(findLargeFolders([...names, "folder/file0_test.ts"]), []);
  assertEquals(findLargeFolders([...names, "folder/more.ts"]), ["folder has 16 source files"]);
});

import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { filesBelow } from "../package/parts.ts";

/** The source files of the project, with what they import. Paths are relative to the project's folder. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const CODE = /\.(tsx?|js)$/;

/** `import … from "./x.ts"`, `export … from "./x.ts"` and `import("./x.ts")`. */
const IMPORTED = /(?:\bfrom|\bimport)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g;

/** Reads which source files in some folders import each other. */
export async function readImports(root: string, folders: readonly string[]): Promise<ImportGraph> {
  const graph = new Map<string, string[]>();
  for (const folder of folders) {
    for (const path of (await filesBelow(root, folder)).filter((file) => CODE.test(file))) {
      const source = await Deno.readTextFile(join(root, path));
      const imported = [...source.matchAll(IMPORTED)].map(([, name = ""]) =>
        new URL(name, `file:///${path}`).pathname.slice(1)
      );
      graph.set(path, imported);
    }
  }
  return graph;
}

/** Finds groups of files of which each imports each other one, directly or not (Tarjan's algorithm). */
export function findCycles(graph: ImportGraph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): void => {
    const number = order.size;
    order.set(file, number);
    lowest.set(file, number);
    stack.push(file);
    for (const imported of graph.get(file) ?? []) {
      if (!graph.has(imported)) continue;
      if (!order.has(imported)) visit(imported);
      if (stack.includes(imported)) {
        lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(imported) ?? 0));
      }
    }
    if (lowest.get(file) !== number) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || graph.get(file)?.includes(file)) cycles.push(group.toSorted());
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return cycles;
}

/** Folders with more source files than this beside their tests are split. */
export const MAX_FILES = 15;

/** Finds folders with too many source files, tests left out. */
export function findLargeFolders(files: Iterable<string>): string[] {
  const counts = new Map<string, number>();
  for (const file of files) {
    if (/_test\.(ts|js)$/.test(file)) continue;
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > MAX_FILES).map(([folder, count]) =>
    `${folder} has ${count} source files`
  );
}

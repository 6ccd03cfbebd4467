import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";

/** The folder of the project. */
export const ROOT = fromFileUrl(new URL("../../", import.meta.url));

/** Where the program begins. */
export const MAIN = "main.ts";

/** What stands in a source in which a file or folder is named that it reads, or starts as a worker. */
const OWN_FILE = /new URL\(\s*"(\.[^"]*)",\s*import\.meta\.url,?\s*\)/g;

/** What is for those who write the program. */
const ONLY_FOR_TESTS = /(_test|\/test_support)\.ts$|\/testing\//;

/** The sources of the dashboard, which its bundle was made of. */
const BUNDLED = /^src\/dashboard\/(?!dist\/)/;

const ONLY_FOR_TYPES = /\.d\.ts$/;

/** What an executable has to have besides the modules that are imported. Paths are relative to the project's. */
export interface Parts {
  /** Files and folders that the sources name. A folder ends with `/`. */
  included: string[];
  /** What lies in those folders and is not wanted. */
  excluded: string[];
}

/** Finds what the sources read or start by `new URL("…", import.meta.url)`, so that no list has to be kept. */
export async function findParts(root = ROOT): Promise<Parts> {
  const included = new Set<string>();
  for (const path of await filesBelow(root, "src")) {
    if (!path.endsWith(".ts") || !isPart(path)) continue;
    for (const [, named = ""] of (await Deno.readTextFile(join(root, path))).matchAll(OWN_FILE)) {
      const url = new URL(named, new URL(path, "file:///"));
      included.add(decodeURIComponent(url.pathname).slice(1));
    }
  }
  const folders = [...included].filter((path) => path.endsWith("/"));
  const within = await Promise.all(folders.map((folder) => filesBelow(root, folder.slice(0, -1))));
  const excluded = within.flat().filter((path) => !isPart(path));
  return { included: [...included].toSorted(), excluded: excluded.toSorted() };
}

/** Whether a file is part of the program. */
export function isPart(path: string): boolean {
  return ![ONLY_FOR_TESTS, ONLY_FOR_TYPES, BUNDLED].some((pattern) => pattern.test(path));
}

/** All files in a folder and the folders in it, as paths that begin with that folder's. */
export async function filesBelow(root: string, folder: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(root, folder))) {
    const path = `${folder}/${name}`;
    if (isDirectory) paths.push(...await filesBelow(root, path));
    else paths.push(path);
  }
  return paths.toSorted();
}

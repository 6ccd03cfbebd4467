import { assert } from "@std/assert";

const FILE = /"\/dashboard\/(\w+)\/main\.js"/;

/** The version of a server's dashboard, as its page names it. */
export async function dashboardVersion(origin: string): Promise<string> {
  const text = await (await fetch(origin)).text();
  const version = FILE.exec(text)?.[1];
  assert(version !== undefined, text);
  return version;
}

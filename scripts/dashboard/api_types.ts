/**
 * Derives the types of the API for the dashboard from its OpenAPI description, so that a call that the server does not
 * know is an error of the type check. `deno task check` runs it; the result is never checked in.
 *
 * @module
 */

import { join } from "@std/path/join";
import { routes } from "../../src/app.ts";
import { describeRoutes } from "../../src/openapi/document.ts";
import config from "../../tests/deno.json" with { type: "json" };
import { ROOT } from "../package/parts.ts";

const OUTPUT = join(ROOT, "src/dashboard/core/api_schema.d.ts");

/** The packages of the tests, which the start of a server does not load, have the generator as well. */
const CONFIG = join(ROOT, "tests/deno.json");
const GENERATOR = config.imports["openapi-typescript"];

if (import.meta.main) {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-types-" });
  try {
    const description = join(folder, "openapi.json");
    await Deno.writeTextFile(description, JSON.stringify(describeRoutes(routes)));
    const text = await generate(description, join(folder, "types.d.ts"));
    const present = await Deno.readTextFile(OUTPUT).catch(() => "");
    // An unchanged file keeps the cache of the type checker.
    if (text !== present) await Deno.writeTextFile(OUTPUT, text);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function generate(description: string, output: string): Promise<string> {
  const options = ["--quiet", "--config", CONFIG, "-A"];
  const args = ["run", ...options, GENERATOR, description, "--output", output];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  const decoder = new TextDecoder();
  if (!success) {
    throw new Error(
      `The types cannot be derived: ${decoder.decode(stderr)}${decoder.decode(stdout)}`,
    );
  }
  return await Deno.readTextFile(output);
}

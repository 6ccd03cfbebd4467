/**
 * Derives the types of the API for the dashboard from its OpenAPI description, so that a call that the server does not
 * know is an error of the type check. `deno task check` runs it; the result is never checked in.
 *
 * @module
 */

import openapiTS, { astToString } from "openapi-typescript";
import { join } from "@std/path/join";
import { routes } from "../../src/app.ts";
import { describeRoutes } from "../../src/openapi/document.ts";
import { ROOT } from "../package/parts.ts";

const OUTPUT = join(ROOT, "src/dashboard/core/api_schema.d.ts");

if (import.meta.main) {
  const description = JSON.parse(JSON.stringify(describeRoutes(routes)));
  const text = astToString(await openapiTS(description));
  const present = await Deno.readTextFile(OUTPUT).catch(() => "");
  // An unchanged file keeps the cache of the type checker.
  if (text !== present) await Deno.writeTextFile(OUTPUT, text);
}

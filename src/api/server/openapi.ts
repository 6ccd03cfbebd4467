import { encodeJson } from "../../http/responses/json_response.ts";
import { sendStatic, type StaticFile, staticFile } from "../../http/responses/static_files.ts";
import { describeRoutes } from "../../openapi/document.ts";
import { header, plainResponse } from "../../openapi/messages.ts";
import type { Document, HeaderObjects } from "../../openapi/types.ts";
import { type Deps, type Endpoint, publicEndpoint } from "../endpoint.ts";
import type { Route } from "../router.ts";

const HEADERS = {
  // The description contains no stored data: tools on pages of any origin may read it.
  "Access-Control-Allow-Origin": "*",
  "Cache-Control": "no-cache",
  "X-Content-Type-Options": "nosniff",
};

const headers: HeaderObjects = {
  "Access-Control-Allow-Origin": header("AnyOrigin"),
  "Cache-Control": header("Revalidate"),
  "ETag": header("ETag"),
  "X-Content-Type-Options": header("NoSniff"),
};

function fileOf(document: Document): StaticFile {
  return staticFile("application/json", encodeJson(document));
}

/**
 * `GET /openapi.json`: "the OpenAPI 3.1 description of all of this".
 *
 * @param routes Returns the routes to describe, this one included. Called at the first request.
 */
export function showDescription(routes: () => readonly Route[]): Endpoint {
  const files = new WeakMap<Deps, StaticFile>();
  return publicEndpoint({
    id: "showDescription",
    tag: "The server",
    summary: "This description",
    description: "Pages of every origin may read it.",
    parameters: ["KnownPage"],
    success: {
      200: plainResponse("An OpenAPI 3.1 document.", headers, {
        "application/json": {
          schema: {
            type: "object",
            properties: { openapi: { const: "3.1.1" } },
            required: ["openapi"],
          },
        },
      }),
      304: plainResponse("The caller's version is current.", headers),
    },
  }, async ({ request }, deps) => {
    const file = files.get(deps) ?? fileOf(describeRoutes(routes(), deps.basePath));
    files.set(deps, file);
    return await sendStatic(request, file, HEADERS);
  });
}

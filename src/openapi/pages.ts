import { forEverybody, TAGS } from "./info.ts";
import { path } from "./operation.ts";
import { plain } from "./responses.ts";
import { type Content, header, type HeaderObjects, parameter, type Paths } from "./types.ts";

const pageHeaders: HeaderObjects = {
  "Cache-Control": header("AskAgain"),
  "Content-Security-Policy": header("PagePolicy"),
  "Cross-Origin-Opener-Policy": header("OpenerPolicy"),
  "ETag": header("ETag"),
  "Referrer-Policy": header("ReferrerPolicy"),
  "Vary": header("Vary"),
  "X-Content-Type-Options": header("NoSniff"),
  "X-Frame-Options": header("FrameOptions"),
};

const text = { schema: { type: "string" } };

function page(content: Content) {
  const packed = { "Content-Encoding": header("ContentEncoding") };
  return {
    200: plain("The file.", { ...pageHeaders, ...packed }, content),
    304: plain("The caller has this version.", pageHeaders),
  };
}

const conditions = [parameter("KnownPage"), parameter("AcceptEncoding")];

/** The dashboard, and this description. */
export const pagePaths: Paths = {
  "/": path({ tag: TAGS.server, security: forEverybody }, {
    get: {
      id: "showDashboard",
      summary: "The dashboard",
      description: "A page for people. Whatever it does goes over the API that is described here.",
      parameters: conditions,
      success: page({ "text/html": text }),
    },
  }),
  "/dashboard/{folder}/{file}": path({
    tag: TAGS.server,
    security: forEverybody,
    parameters: [parameter("PageFolder"), parameter("PageFile")],
  }, {
    get: {
      id: "showDashboardFile",
      summary: "What the dashboard is made of",
      parameters: conditions,
      success: page({ "text/javascript": text, "text/css": text, "image/svg+xml": text }),
      failures: { NotFound: "There is no such file." },
    },
  }),
  "/openapi.json": path({ tag: TAGS.server, security: forEverybody }, {
    get: {
      id: "showDescription",
      summary: "This description",
      description: "Pages of every origin may read it.",
      parameters: [parameter("KnownPage")],
      success: {
        200: plain("An OpenAPI 3.1 document.", descriptionHeaders(), {
          "application/json": {
            schema: {
              type: "object",
              properties: { openapi: { const: "3.1.1" } },
              required: ["openapi"],
            },
          },
        }),
        304: plain("The caller has this version.", descriptionHeaders()),
      },
    },
  }),
};

function descriptionHeaders(): HeaderObjects {
  return {
    "Access-Control-Allow-Origin": header("AnyOrigin"),
    "Cache-Control": header("AskAgain"),
    "ETag": header("ETag"),
    "X-Content-Type-Options": header("NoSniff"),
  };
}

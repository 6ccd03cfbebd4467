import { forEverybody, forMetrics, TAGS } from "./info.ts";
import { path, type PathDescription } from "./operation.ts";
import { inJson, plain } from "./responses.ts";
import { closed } from "./schemas.ts";
import { header, type Paths, type Schema } from "./types.ts";

/** The schemas of what is asked of the server itself. */
export const healthSchemas: Readonly<Record<string, Schema>> = {
  Alive: closed({ status: { const: "ok" } }),
  Ready: closed({ status: { const: "ready" } }),
};

const forAll: PathDescription = { tag: TAGS.server, security: forEverybody };

/** What monitors ask. */
export const healthPaths: Paths = {
  "/healthz": path(forAll, {
    get: {
      id: "showHealth",
      summary: "Whether the server is alive",
      description: "200 for as long as the process answers at all.",
      success: { 200: inJson("It is.", "Alive") },
      neverFailsBy: ["Unavailable"],
    },
  }),
  "/readyz": path(forAll, {
    get: {
      id: "showReadiness",
      summary: "Whether the server takes requests",
      success: { 200: inJson("It does.", "Ready") },
      failures: { Unavailable: "It is shutting down, or its store cannot be reached." },
    },
  }),
  "/metrics": path({ tag: TAGS.server, security: forMetrics }, {
    get: {
      id: "showMetrics",
      summary: "Figures on the server",
      description:
        "As Prometheus reads them. For the administrator, and for who has the token for them.",
      success: {
        200: plain("The figures.", { "Cache-Control": header("NoStore") }, {
          "text/plain": { schema: { type: "string" } },
        }),
      },
      failures: {
        Unauthorized: "No token, or one that is not known.",
        TooManyWrongKeys: "Too many wrong keys came from this network.",
        Unavailable: "The store cannot be reached.",
      },
    },
  }),
};

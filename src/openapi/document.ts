import { appPaths } from "./admin_apps.ts";
import { projectPaths } from "./admin_projects.ts";
import { adminSchemas } from "./admin_schemas.ts";
import { filePaths } from "./files.ts";
import { forwardAuthPaths } from "./forward_auth.ts";
import { headers } from "./headers.ts";
import { healthPaths, healthSchemas } from "./health.ts";
import { info, securitySchemes, servers, tags } from "./info.ts";
import { pagePaths } from "./pages.ts";
import { parameters } from "./parameters.ts";
import { responses } from "./responses.ts";
import { fileSchemas } from "./schemas.ts";
import type { Document } from "./types.ts";
import { uploadPaths } from "./uploads.ts";

/** "The OpenAPI 3.1 description of all of this". */
export const openApiDocument: Document = {
  openapi: "3.1.1",
  info,
  servers,
  tags,
  paths: {
    ...filePaths,
    ...uploadPaths,
    ...projectPaths,
    ...appPaths,
    ...forwardAuthPaths,
    ...pagePaths,
    ...healthPaths,
  },
  components: {
    schemas: { ...fileSchemas, ...adminSchemas, ...healthSchemas },
    parameters,
    headers,
    responses,
    securitySchemes,
  },
};

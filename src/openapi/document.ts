import { type DescribedEndpoint, pathItem } from "./operation.ts";
import { type ParameterName, parameters, PATH_PARAMETERS } from "./parameters.ts";
import { errors, headers } from "./messages.ts";
import { sharedSchemas } from "./schemas.ts";
import type { Document, PathItem, Schema } from "./types.ts";
import { info, securitySchemes, serversAt, tags } from "./info.ts";

export interface DescribedRoute {
  /** Such as `/v1/:project/:drive/files`. */
  path: string;
  /** By method, in upper case. `HEAD` and `OPTIONS` are added. */
  endpoints: Readonly<Record<string, DescribedEndpoint>>;
}

/** The OpenAPI 3.1 description of these routes. @param basePath The path that they are below; empty for none. */
export function describeRoutes(routes: readonly DescribedRoute[], basePath = ""): Document {
  const schemas: Record<string, Schema> = { ...sharedSchemas };
  const paths: Record<string, PathItem> = {};
  for (const { path, endpoints } of routes) {
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => componentOf(name));
    paths[path.replaceAll(/:(\w+)/g, (_, name) => `{${parameters[componentOf(name)].name}}`)] =
      pathItem(names, endpoints);
    for (const { operation } of Object.values(endpoints)) {
      Object.assign(schemas, operation.schemas);
    }
  }
  const responses = Object.fromEntries(
    Object.entries(errors).map(([name, { response }]) => [name, response]),
  );
  const components = { schemas, parameters, headers, responses, securitySchemes };
  const servers = serversAt(basePath);
  return { openapi: "3.1.1", info, servers, tags, paths, components };
}

/** The component that describes a parameter of a route's path. */
function componentOf(name: string): ParameterName {
  const component = PATH_PARAMETERS[name];
  if (component === undefined) throw new Error(`The path parameter :${name} is not described`);
  return component;
}

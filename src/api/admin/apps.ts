import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, listOf, orNull, schema } from "../../openapi/schemas.ts";
import { hostnameOf, isSubdomain, upstreamProblem } from "../../rules/hosts.ts";
import { appNameProblem, descriptionProblem, keyNameProblem } from "../../rules/names.ts";
import type { AppInfo } from "../../store/accounts/apps.ts";
import type { Deps } from "../endpoint.ts";
import { changeFailures, jsonFailures, type ProjectCall, projectEndpoint } from "./admin_call.ts";
import { appJson, appKeyJson } from "./json.ts";
import { APP_KEY_PREFIX_LENGTH } from "../../rules/secrets.ts";

/** Describes the 404 of an operation on an application. */
export const NO_APP = "The application or the project does not exist.";

const FORBIDDEN =
  "The key is of another project or does not administer this one, or an owner sets an upstream, or a host that is not below the project's suffix.";

const OWNERS_HOSTS =
  "Only the administrator sets the upstream and the host name; an owner may choose a host name below the project's " +
  "`host_suffix`.";

const example = {
  name: "viewer",
  project_id: "album",
  upstream: "http://127.0.0.1:3000",
  host: null,
  access: { enabled: true },
  created: "2021-04-22T11:50:08Z",
};

/** `GET …/apps`: the applications of a project, and the address of the gate. */
export const listApps = projectEndpoint({
  id: "listApps",
  tag: "Applications",
  summary: "List applications",
  success: {
    200: jsonResponse("All applications of the project, and the address of the gate.", "AppList", {
      example: { apps: [example], gate: { port: 8001, scheme: "http" } },
    }),
  },
  schemas: {
    AppList: closed({
      apps: listOf(schema("App")),
      gate: orNull(closed({
        port: { type: "integer", minimum: 1, maximum: 65_535 },
        scheme: { type: "string", enum: ["http", "https"] },
      }, { description: "The port of the gate to the applications; `null` without a gate." })),
    }),
  },
}, async ({ project }, { store, gate }) => {
  const apps = await store.apps.list(project);
  return json(200, { apps: apps.map(appJson), gate: gate ?? null });
});

/** `POST …/apps`: creates an application; its access control is off unless `access` enables it. */
export const createApp = projectEndpoint({
  id: "createApp",
  tag: "Applications",
  summary: "Create an application",
  description: `Its access control is off unless \`access\` enables it. ${OWNERS_HOSTS}`,
  body: jsonBody("Its name, upstream and host name.", schema("CreateAppRequest"), {
    example: { name: "viewer", upstream: "http://127.0.0.1:3000" },
  }),
  success: { 201: jsonResponse("The application.", "App") },
  failures: {
    ...jsonFailures,
    Forbidden: FORBIDDEN,
    Conflict:
      "The name or the host name is taken, or an application of this name is still being removed.",
  },
  schemas: {
    CreateAppRequest: closed({
      name: schema("AppName"),
      upstream: orNull(schema("Upstream")),
      host: orNull(schema("HostName")),
      access: schema("Access"),
    }, { optional: ["upstream", "host", "access"] }),
  },
}, async (call, deps) => {
  const { store } = deps;
  const fields = await Fields.read(call, deps, ["name", "upstream", "host", "access"]);
  const name = fields.text("name", appNameProblem);
  const upstream = upstreamOf(fields, call, deps) ?? undefined;
  const host = hostOf(fields, call, deps) ?? undefined;
  const access = fields.object("access", ["enabled"])?.flag("enabled");
  const isOwnersHost = !call.isAdministrator;
  const settings = { upstream, host, isOwnersHost, access };
  const app = await store.apps.create(call.project, name, settings, call.actor);
  return json(201, appJson(app));
});

/** `GET …/apps/{app}`. */
export const showApp = projectEndpoint({
  id: "showApp",
  tag: "Applications",
  summary: "Show an application",
  success: { 200: jsonResponse("The application.", "App", { example }) },
  failures: { NotFound: NO_APP },
  schemas: {
    App: closed({
      name: schema("AppName"),
      project_id: schema("ProjectId"),
      upstream: orNull(schema("Upstream")),
      host: orNull(schema("HostName")),
      access: schema("Access"),
      created: schema("Second"),
    }),
  },
}, async (call, deps) => json(200, appJson(await requireApp(call, deps))));

/** `PATCH …/apps/{app}`: sets the fields of the body; `null` removes a value. */
export const changeApp = projectEndpoint({
  id: "changeApp",
  tag: "Applications",
  summary: "Change an application",
  description: `Sets the fields of the body. ${OWNERS_HOSTS}`,
  body: jsonBody("The fields to set.", schema("ChangeAppRequest"), {
    required: false,
    example: { host: "viewer.example.com" },
  }),
  success: { 200: jsonResponse("The changed application.", "App") },
  failures: {
    ...jsonFailures,
    Forbidden: FORBIDDEN,
    NotFound: NO_APP,
    Conflict: "The host name is taken.",
  },
  schemas: {
    ChangeAppRequest: closed({
      upstream: orNull(schema("Upstream")),
      host: orNull(schema("HostName")),
    }, {
      optional: ["upstream", "host"],
      description: "A field is set to its value; `null` removes the value.",
    }),
  },
}, async (call, deps) => {
  const { store } = deps;
  const name = appNameOf(call);
  const fields = await Fields.read(call, deps, ["upstream", "host"]);
  const upstream = upstreamOf(fields, call, deps);
  const host = hostOf(fields, call, deps);
  const isOwnersHost = !call.isAdministrator;
  if (host === null && isOwnersHost) await requireOwnHost(call, name, deps);
  const changes = { upstream, host, isOwnersHost };
  const app = await store.apps.update(call.project, name, changes, call.actor);
  if (app === undefined) throw errors.appNotFound(name);
  return json(200, appJson(app));
});

/** `DELETE …/apps/{app}`: deletes an application and its keys. */
export const deleteApp = projectEndpoint({
  id: "deleteApp",
  tag: "Applications",
  summary: "Delete an application",
  description: "Deletes its keys as well. Open connections to it are closed at once.",
  success: { 200: jsonResponse("The application was deleted.", "AppNamed") },
  failures: { ...changeFailures, NotFound: NO_APP },
  schemas: { AppNamed: closed({ name: schema("AppName") }) },
}, async (call, { store }) => {
  const name = appNameOf(call);
  if (!await store.apps.delete(call.project, name, call.actor)) throw errors.appNotFound(name);
  return json(200, { name });
});

/** `GET …/apps/{app}/access`: whether the application is accessible "only to its owner and to holders of a valid key". */
export const showAccess = projectEndpoint({
  id: "showAccess",
  tag: "Applications",
  summary: "Show the access control",
  success: { 200: jsonResponse("Whether it is on.", "Access") },
  failures: { NotFound: NO_APP },
  schemas: {
    Access: closed({
      enabled: {
        type: "boolean",
        description: "Whether only the owner and holders of a key have access.",
      },
    }),
  },
}, async (call, deps) => json(200, { enabled: (await requireApp(call, deps)).access }));

/** `PUT …/apps/{app}/access`: switches the access control on or off. The keys are kept. */
export const switchAccess = projectEndpoint({
  id: "switchAccess",
  tag: "Applications",
  summary: "Switch the access control",
  description: "While it is off, every caller has access. The keys are kept.",
  body: jsonBody("On or off.", schema("Access"), { example: { enabled: true } }),
  success: { 200: jsonResponse("The new state.", "Access") },
  failures: { ...jsonFailures, NotFound: NO_APP },
}, async (call, deps) => {
  const { store } = deps;
  const name = appNameOf(call);
  const fields = await Fields.read(call, deps, ["enabled"]);
  const changes = { access: fields.flag("enabled") };
  const app = await store.apps.update(call.project, name, changes, call.actor);
  if (app === undefined) throw errors.appNotFound(name);
  return json(200, { enabled: app.access });
});

/** The application's name from the path. @throws {HttpError} 404 if it is not a valid one. */
export function appNameOf({ params }: ProjectCall): string {
  const name = params["app"] ?? "";
  if (appNameProblem(name) !== undefined) throw errors.appNotFound(name);
  return name;
}

/** The application in the path. @throws {HttpError} 404 if it does not exist. */
export async function requireApp(call: ProjectCall, { store }: Deps): Promise<AppInfo> {
  const name = appNameOf(call);
  const app = await store.apps.get(call.project, name);
  if (app === undefined) throw errors.appNotFound(name);
  return app;
}

/** "The upstream is the administrator's to set, as it says where this server connects to." */
function upstreamOf(
  fields: Fields,
  { isAdministrator }: ProjectCall,
  { upstreamRules }: Deps,
): string | null | undefined {
  const problemOf = (text: string) => upstreamProblem(text) ?? upstreamRules.problemOf(text);
  const upstream = fields.textOrNull("upstream", isAdministrator ? problemOf : upstreamProblem);
  if (upstream !== undefined && !isAdministrator) throw errors.upstreamNotAllowed();
  return upstream;
}

/**
 * The host name to set, in lower case, as host names are not case-sensitive. `null` removes it, `undefined` keeps it.
 *
 * @throws {HttpError} 403 if an owner may not set it, 400 if no application may have it.
 */
function hostOf(
  fields: Fields,
  { isAdministrator, info: { hostSuffix }, request: { headers } }: ProjectCall,
  { hosts }: Deps,
): string | null | undefined {
  const host = fields.textOrNull("host", () => undefined)?.toLowerCase();
  if (host === undefined) return fields.has("host") ? null : undefined;
  const isBelowSuffix = hostSuffix !== undefined && isSubdomain(host, hostSuffix);
  if (!isAdministrator && !isBelowSuffix) throw errors.hostNotAllowed(hostSuffix);
  // The name under which this API was called must keep leading to the server itself.
  const called = hostnameOf(headers.get("host") ?? "");
  const problem = host === called ? "is a name of this server itself" : hosts.problemOf(host);
  if (problem !== undefined) throw errors.badField("host", problem);
  return host;
}

/** An owner who may not choose host names may not remove one either. @throws {HttpError} 403 */
async function requireOwnHost(
  { project, info }: ProjectCall,
  app: string,
  { store }: Deps,
): Promise<void> {
  if (info.hostSuffix !== undefined) return;
  const current = await store.apps.get(project, app);
  if (current?.host !== undefined) throw errors.hostNotAllowed(undefined);
}

const keyFields = {
  name: schema("Label"),
  description: orNull(schema("Description")),
  prefix: schema("AppKeyPrefix"),
  created: schema("Second"),
};

/** `GET …/apps/{app}/keys`: the keys of an application, without their secrets. */
export const listAppKeys = projectEndpoint({
  id: "listAppKeys",
  tag: "Applications",
  summary: "List keys of an application",
  success: { 200: jsonResponse("All keys, without their secrets.", "AppKeyList") },
  failures: { NotFound: NO_APP },
  schemas: { AppKeyList: closed({ keys: listOf(closed(keyFields)) }) },
}, async (call, deps) => {
  const { app } = await requireApp(call, deps);
  const keys = await deps.store.appKeys.list(call.project, app);
  return json(200, { keys: keys.map(appKeyJson) });
});

/** `POST …/apps/{app}/keys`: "The `api_key` value is returned only once, at creation." */
export const createAppKey = projectEndpoint({
  id: "createAppKey",
  tag: "Applications",
  summary: "Create a key of an application",
  description:
    "The key is returned only in this response. It does not expire, so a project key that does cannot create one.",
  body: jsonBody("Its name and its purpose.", schema("CreateAppKeyRequest"), {
    example: { name: "ci", description: "nightly run" },
  }),
  success: {
    201: jsonResponse("The key.", "NewAppKey", {
      example: {
        name: "ci",
        description: "nightly run",
        prefix: "9fKq2LmX",
        created: "2021-04-22T11:50:08Z",
        api_key: "9fKq2LmX.s7Wd9Zp2Lm4Nr8Tv1Yc5Eg6Hb3Jk0Qx8",
      },
    }),
  },
  failures: {
    ...jsonFailures,
    Forbidden: "The key is of another project or does not administer this one, or it expires.",
    NotFound: NO_APP,
    Conflict: "Access control is off, or the name is taken.",
  },
  schemas: {
    CreateAppKeyRequest: closed({
      name: schema("Label"),
      description: orNull(schema("Description")),
    }, { optional: ["description"] }),
    NewAppKey: closed({
      ...keyFields,
      api_key: {
        type: "string",
        description: "The key, `<prefix>.<secret>`. It is returned only once, in this response.",
        pattern: `^[A-Za-z0-9]{${APP_KEY_PREFIX_LENGTH}}\\.[A-Za-z0-9]+$`,
      },
    }),
  },
}, async (call, deps) => {
  const { store } = deps;
  call.rights.requireEndless("a key of an application");
  const app = appNameOf(call);
  const fields = await Fields.read(call, deps, ["name", "description"]);
  const name = fields.text("name", keyNameProblem);
  const description = fields.optionalText("description", descriptionProblem);
  const made = await store.appKeys.create(call.project, app, {
    name,
    ...(description === undefined ? {} : { description }),
  }, call.actor);
  return json(201, { ...appKeyJson(made), api_key: made.text });
});

/** `DELETE …/apps/{app}/keys/{name}`: revokes a key. */
export const revokeAppKey = projectEndpoint({
  id: "revokeAppKey",
  tag: "Applications",
  summary: "Revoke a key of an application",
  description:
    "The key is invalid once this is answered; in other server processes within 5 seconds.",
  success: { 200: jsonResponse("The key was revoked.", "AppKeyNamed") },
  failures: {
    ...changeFailures,
    NotFound: "The key, the application or the project does not exist.",
  },
  schemas: { AppKeyNamed: closed({ name: schema("Label") }) },
}, async (call, deps) => {
  const { app } = await requireApp(call, deps);
  const name = call.params["name"] ?? "";
  const isRevoked = keyNameProblem(name) === undefined &&
    await deps.store.appKeys.revoke(call.project, app, name, call.actor);
  if (!isRevoked) throw errors.appKeyNotFound(name);
  return json(200, { name });
});

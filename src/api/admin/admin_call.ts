import {
  type AuthContext,
  authenticateCaller,
  type Caller,
  reauthenticate,
} from "../../http/authentication.ts";
import { errors } from "../../http/http_error.ts";
import { MAX_FIELDS_BODY } from "../../http/json_body.ts";
import { decodeLeniently, decodeSegment, Query } from "../../http/request_target.ts";
import { forAdministrator, forOwner } from "../../openapi/info.ts";
import type { Access, Failures, OperationDescription } from "../../openapi/operation.ts";
import { isProjectId } from "../../rules/names.ts";
import type { Actor } from "../../store/accounts/events.ts";
import type { Rights } from "../../rules/rights.ts";
import type { ProjectInfo } from "../../store/accounts/projects.ts";
import { NoSuchProject } from "../../store/engine/errors.ts";
import type { Deps, Endpoint, RoutedRequest } from "../endpoint.ts";
import { forbiddenText, requireRights } from "../permissions.ts";

/** A request to the administration API, whose sender is authorized. The parameters of its path are decoded. */
export interface AdminCall extends Omit<RoutedRequest, "query"> {
  /** Whether the sender is the administrator, not the project's owner. */
  isAdministrator: boolean;
  /** The sender, as the audit logs name it. */
  actor: Actor;
  /** The rights of the sender, who has the permissions that the operation needs. */
  rights: Rights;
  /** SHA-256 of the sender's key or token. */
  credential: string;
  query: Query;
  /** See `DriveCall`. */
  reauthorize: () => Promise<void>;
}

/** The same for a path below a project that exists. */
export interface ProjectCall extends AdminCall {
  project: string;
  info: ProjectInfo;
}

/** The errors of every operation that needs credentials. */
const authenticationFailures: Failures = {
  Unauthorized: "The credentials are missing or unknown.",
  TooManyWrongKeys: "Too many wrong keys came from this network.",
};

const ADMINISTRATOR_ACCESS: Access = {
  security: forAdministrator,
  noStore: true,
  failures: {
    ...authenticationFailures,
    Forbidden: "A project key does not allow this: only the administrator's token does.",
  },
};

/** Describes the 404 of an operation on a project. */
export const NO_PROJECT = "The project does not exist.";

const PROJECT_ACCESS: Access = {
  security: forOwner,
  noStore: true,
  failures: {
    ...authenticationFailures,
    NotFound: NO_PROJECT,
  },
};

/** The errors of an operation that changes something. */
export const changeFailures: Failures = { StorageFull: "The disk is full: nothing was changed." };

/** The errors of an operation with a JSON body. */
export const jsonFailures: Failures = {
  ...changeFailures,
  BadRequest: "The body is not such a JSON object: the error names the wrong field.",
  BodyTimeout: "The body stopped coming.",
  TooLarge: `The body is larger than ${MAX_FIELDS_BODY} bytes.`,
};

/** A request of a known sender. */
export type KeyCall = RoutedRequest & Pick<AdminCall, "reauthorize">;

/** An endpoint for every key and session, and for the administrator. */
export function keyEndpoint(
  operation: OperationDescription,
  handle: (call: KeyCall, deps: Deps, caller: Caller) => Promise<Response>,
): Endpoint {
  return {
    operation,
    access: { security: forOwner, failures: authenticationFailures },
    async handle(routed, deps) {
      const caller = await authenticate(routed, deps);
      const reauthorize = () => reauthenticate(caller, authOf(routed, deps));
      return await handle({ ...routed, reauthorize }, deps, caller);
    },
  };
}

export function administratorEndpoint(
  operation: OperationDescription,
  handle: (call: AdminCall, deps: Deps) => Promise<Response>,
): Endpoint {
  return {
    operation,
    access: ADMINISTRATOR_ACCESS,
    async handle(routed, deps) {
      const caller = await authenticate(routed, deps);
      if (!caller.isAdministrator) throw errors.administratorOnly();
      return await handle(adminCallOf(routed, deps, caller), deps);
    },
  };
}

/** An endpoint for the administrator and the owner of the project in the path. */
export function projectEndpoint(
  operation: OperationDescription,
  handle: (call: ProjectCall, deps: Deps) => Promise<Response>,
): Endpoint {
  return {
    operation,
    access: {
      ...PROJECT_ACCESS,
      failures: { ...PROJECT_ACCESS.failures, Forbidden: forbiddenText(operation.id) },
    },
    async handle(routed, deps) {
      const caller = await authenticate(routed, deps);
      const requested = decodeLeniently(routed.params["project"] ?? "");
      if (!caller.isAdministrator && caller.project !== requested) throw errors.wrongProject();
      requireRights(operation.id, caller.rights);
      const call = adminCallOf(routed, deps, caller);
      const project = call.params["project"] ?? "";
      const info = isProjectId(project) ? await deps.store.projects.get(project) : undefined;
      // The owner's key may have come from the cache although the project was just deleted.
      const notFound = () =>
        caller.isAdministrator ? errors.projectNotFound(project) : errors.unknownKey();
      if (info === undefined) throw notFound();
      routed.context.project = project;
      try {
        return await handle({ ...call, project, info }, deps);
      } catch (error) {
        throw error instanceof NoSuchProject ? notFound() : error;
      }
    },
  };
}

/** The sender of a request to the server or to any project. @throws {HttpError} 401, 429 */
async function authenticate(routed: RoutedRequest, deps: Deps): Promise<Caller> {
  return await authenticateCaller(routed.request.headers, authOf(routed, deps));
}

function authOf(
  { address, context }: RoutedRequest,
  { administrator, store, wrongKeys }: Deps,
): AuthContext {
  return { administrator, store, wrongKeys, address, context };
}

/** @throws {HttpError} 400 if the path or the query is not percent-encoded UTF-8. */
function adminCallOf(routed: RoutedRequest, deps: Deps, caller: Caller): AdminCall {
  const { isAdministrator, rights, hash } = caller;
  const { address, context, params, query } = routed;
  const decoded = Object.entries(params).map(([name, value]) => [name, decodeSegment(value)]);
  return {
    ...routed,
    isAdministrator,
    rights,
    credential: hash,
    actor: { by: context.key ?? "", address: address() },
    params: Object.fromEntries(decoded),
    // A malformed query is 400 even if the endpoint has no query parameters.
    query: new Query(query),
    reauthorize: () => reauthenticate(caller, authOf(routed, deps)),
  };
}

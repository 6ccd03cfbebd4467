import { noCredentials, type Tag } from "./info.ts";
import {
  corsHeaders,
  type ErrorName,
  errors,
  header,
  plainResponse,
  sharedErrorHeaders,
  sharedHeaders,
} from "./messages.ts";
import type { ParameterName } from "./parameters.ts";
import type {
  Body,
  Operation,
  PathItem,
  Reference,
  ResponseObject,
  Schema,
  Security,
} from "./types.ts";

/** The errors of an operation, each with a sentence that says when it occurs. */
export type Failures = Partial<Readonly<Record<ErrorName, string>>>;

/** An operation as the file of its endpoint describes it. */
export interface OperationDescription {
  /** The `operationId`, unique in the document. */
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** Parameters of the query and of the headers. Those of the path follow from the route. */
  parameters?: readonly ParameterName[];
  body?: Body;
  /** Successful responses by status. */
  success: Readonly<Record<string, ResponseObject>>;
  failures?: Failures;
  /** Errors that every other operation can have and this one cannot. */
  neverFailsBy?: readonly ErrorName[];
  /** Statuses that `HEAD` does not have, unlike `GET`. */
  notOfHead?: readonly string[];
  /** The schemas that belong to this operation, by their names in `components`. */
  schemas?: Readonly<Record<string, Schema>>;
}

/** Who may call an operation, and what follows for its responses. */
export interface Access {
  security: Security;
  /** Whether pages of other origins may read the responses. */
  allowsCors?: boolean;
  /** Whether no response may be cached, including that to `OPTIONS`. */
  noStore?: boolean;
  /** Whether it serves links: with headers of their own, and errors that are pages for browsers. */
  isShared?: boolean;
  /** The errors of every operation with this access. */
  failures?: Failures;
}

/** Everything that the document says about one endpoint. */
export interface DescribedEndpoint {
  operation: OperationDescription;
  access: Access;
}

const HEAD_TOO_LARGE = "The head of the request is too large.";

/** The errors that every request can have. */
const ALWAYS: Failures = {
  BadRequest: "The request line, a header, the path or the query string is malformed.",
  HeadTooLarge: HEAD_TOO_LARGE,
  ServerError: "A defect of the server.",
  Unavailable: "The server is shutting down, or its store cannot be reached.",
};

const RESPONSES = "#/components/responses/";

function parameter(name: string): Reference {
  return { $ref: `#/components/parameters/${name}` };
}

/** One path with all its operations: those described, `HEAD` if there is a `GET`, and `OPTIONS`. */
export function pathItem(
  ofPath: readonly ParameterName[],
  endpoints: Readonly<Record<string, DescribedEndpoint>>,
): PathItem {
  const described = Object.entries(endpoints);
  const operations = described.map(([method, one]) => [method.toLowerCase(), operationOf(one)]);
  const get = endpoints["GET"];
  const [first] = described;
  return {
    parameters: [...ofPath, "RequestId"].map(parameter),
    ...Object.fromEntries(operations),
    ...(get === undefined ? {} : { head: headOf(operationOf(get), get.operation) }),
    ...(first === undefined ? {} : { options: optionsOf(first[1]) }),
  };
}

function operationOf({ operation: one, access }: DescribedEndpoint): Operation {
  const failures = { ...ALWAYS, ...access.failures, ...one.failures };
  const possible = (Object.entries(failures) as [ErrorName, string][])
    .filter(([name]) => !one.neverFailsBy?.includes(name));
  const failed = possible.map((
    [name, when],
  ) => [errors[name].status, failureOf(name, when, access)]);
  const common = {
    ...(access.allowsCors ? corsHeaders : {}),
    ...(access.isShared ? sharedHeaders : {}),
  };
  const succeeded = Object.entries(one.success).map(([status, success]) => [
    status,
    { ...success, headers: { ...common, ...success.headers } },
  ]);
  return {
    operationId: one.id,
    tags: [one.tag],
    summary: one.summary,
    ...(one.description === undefined ? {} : { description: one.description }),
    security: access.security,
    ...(one.parameters === undefined ? {} : { parameters: one.parameters.map(parameter) }),
    ...(one.body === undefined ? {} : { requestBody: one.body }),
    responses: Object.fromEntries([...succeeded, ...failed]),
  };
}

function failureOf(
  name: ErrorName,
  when: string,
  { isShared = false }: Access,
): ResponseObject | Reference {
  if (!isShared) return { $ref: `${RESPONSES}${name}`, description: when };
  const { headers, content } = errors[name].response;
  return {
    description: when,
    headers: { ...headers, ...sharedErrorHeaders },
    content: { ...content, "text/html": { schema: { type: "string" } } },
  };
}

/** The `HEAD` operation that belongs to a `GET`: the same responses without bodies. */
function headOf(get: Operation, { notOfHead = [] }: OperationDescription): Operation {
  const kept = Object.entries(get.responses).filter(([status]) => !notOfHead.includes(status));
  return {
    ...get,
    operationId: `${get.operationId}Head`,
    summary: `${get.summary}: headers only`,
    responses: Object.fromEntries(kept.map(([status, one]) => [status, withoutBody(one)])),
  };
}

function withoutBody(one: ResponseObject | Reference): ResponseObject {
  if ("headers" in one) return { description: one.description, headers: one.headers };
  const name = one.$ref.slice(RESPONSES.length) as ErrorName;
  const { description, headers } = errors[name].response;
  return { description: one.description ?? description, headers };
}

function optionsOf({ operation: { id, tag }, access }: DescribedEndpoint): Operation {
  const { allowsCors = false, noStore = false, isShared = false } = access;
  const preflight = {
    "Access-Control-Allow-Methods": header("AllowMethods"),
    "Access-Control-Allow-Headers": header("AllowHeaders"),
    "Access-Control-Max-Age": header("PreflightMaxAge"),
    ...corsHeaders,
  };
  const allow = {
    "Allow": header("Allow"),
    ...(noStore ? { "Cache-Control": header("NoStore") } : {}),
  };
  const headers = {
    ...allow,
    ...(allowsCors ? preflight : {}),
    ...(isShared ? sharedHeaders : {}),
  };
  return {
    operationId: `${id}Options`,
    tags: [tag],
    summary: allowsCors ? "Allowed methods, also for CORS preflights" : "Allowed methods",
    security: noCredentials,
    responses: {
      204: plainResponse("The methods of this path.", headers),
      400: failureOf("BadRequest", "The Host header is malformed.", access),
      431: failureOf("HeadTooLarge", HEAD_TOO_LARGE, access),
      500: failureOf("ServerError", "A defect of the server.", access),
    },
  };
}

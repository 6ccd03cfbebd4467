import { forPages } from "./headers.ts";
import { forEverybody } from "./info.ts";
import { type ErrorName, plain, responses, STATUS_OF } from "./responses.ts";
import {
  type Answer,
  answer,
  type Body,
  header,
  type Json,
  type Method,
  type Operation,
  type Parameter,
  parameter,
  type PathItem,
  type Reference,
  type Schema,
  type Security,
} from "./types.ts";

/** The errors of a call, each with the sentence that says when. */
export type Failures = Partial<Readonly<Record<ErrorName, string>>>;

/** What one method of a path does, without what all have. */
export interface Described {
  id: string;
  summary: string;
  description?: string;
  /** Who may ask, if not all whom the path is for. */
  security?: Security;
  parameters?: readonly (Parameter | Reference)[];
  body?: Body;
  /** By status. */
  success: Readonly<Record<string, Answer>>;
  failures?: Failures;
  /** Of the errors that any request can have, those that this has not. */
  neverFailsBy?: readonly ErrorName[];
  /** Successes and errors that `HEAD` does not have. */
  notOfHead?: readonly string[];
}

/** What is the same for all methods of a path. */
export interface PathDescription {
  tag: string;
  security: Security;
  parameters?: readonly (Parameter | Reference)[];
  /** Whether pages of other origins may read the answers. */
  forPages?: boolean;
  /** Whether no answer at all may be kept, that to `OPTIONS` either. */
  unkept?: boolean;
  /** The errors that all its methods have. */
  failures?: Failures;
}

type DescribedMethods = Partial<Readonly<Record<Exclude<Method, "head" | "options">, Described>>>;

const HEAD_TOO_LARGE = "The head of the request is too large.";

/** Any request can fail by these. */
const ALWAYS: Failures = {
  BadRequest: "The request line, a header, the path or the query string is malformed.",
  HeadTooLarge: HEAD_TOO_LARGE,
  ServerError: "A defect of the server.",
  Unavailable: "The server is shutting down, or its store cannot be reached.",
};

/** One path with all that it answers: what is described, `HEAD` where there is `GET`, and `OPTIONS`. */
export function path(about: PathDescription, described: DescribedMethods): PathItem {
  const methods = Object.entries(described) as [Method, Described][];
  const operations = methods.map(([method, one]) => [method, operation(about, one)] as const);
  const { get } = described;
  const first = methods[0]?.[1].id ?? "";
  return {
    parameters: [...about.parameters ?? [], parameter("RequestId")],
    ...Object.fromEntries(operations),
    ...(get === undefined ? {} : { head: headOf(operation(about, get), get) }),
    options: optionsOf(about, first),
  };
}

function operation(about: PathDescription, one: Described): Operation {
  const failures = { ...ALWAYS, ...about.failures, ...one.failures };
  const named = (Object.entries(failures) as [ErrorName, string][])
    .filter(([name]) => !one.neverFailsBy?.includes(name));
  const failed = named.map(([name, when]) => [STATUS_OF[name], answer(name, when)] as const);
  const succeeded = Object.entries(one.success).map(([status, success]) =>
    [status, about.forPages ? readable(success) : success] as const
  );
  return {
    operationId: one.id,
    tags: [about.tag],
    summary: one.summary,
    ...(one.description === undefined ? {} : { description: one.description }),
    security: one.security ?? about.security,
    ...(one.parameters === undefined ? {} : { parameters: one.parameters }),
    ...(one.body === undefined ? {} : { requestBody: one.body }),
    responses: Object.fromEntries([...succeeded, ...failed]),
  };
}

function readable(success: Answer): Answer {
  return { ...success, headers: { ...forPages, ...success.headers } };
}

/** The same without bodies. */
function headOf(get: Operation, { notOfHead = [] }: Described): Operation {
  const kept = Object.entries(get.responses).filter(([status]) => !notOfHead.includes(status));
  return {
    ...get,
    operationId: `${get.operationId}Head`,
    summary: `${get.summary}: the headers alone`,
    responses: Object.fromEntries(kept.map(([status, one]) => [status, withoutBody(one)])),
  };
}

function withoutBody(one: Answer | Reference): Answer {
  if ("headers" in one) return { description: one.description, headers: one.headers };
  const name = one.$ref.slice(one.$ref.lastIndexOf("/") + 1) as ErrorName;
  const { description, headers } = responses[name];
  return { description: one.description ?? description, headers };
}

function optionsOf(
  { tag, forPages: pages = false, unkept = false }: PathDescription,
  first: string,
): Operation {
  const preflight = {
    "Access-Control-Allow-Methods": header("AllowMethods"),
    "Access-Control-Allow-Headers": header("AllowHeaders"),
    "Access-Control-Max-Age": header("PreflightMaxAge"),
    ...forPages,
  };
  const allow = {
    "Allow": header("Allow"),
    ...(unkept ? { "Cache-Control": header("NoStore") } : {}),
  };
  return {
    operationId: `${first}Options`,
    tags: [tag],
    summary: pages ? "What may be asked here, for CORS preflights too" : "What may be asked here",
    security: forEverybody,
    responses: {
      204: plain("The methods of this path.", pages ? { ...allow, ...preflight } : allow),
      400: answer("BadRequest", "The Host header is malformed."),
      431: answer("HeadTooLarge", HEAD_TOO_LARGE),
      500: answer("ServerError", "A defect of the server."),
    },
  };
}

/** A body in JSON. */
export function jsonBody(
  description: string,
  schema: Schema,
  { required = true, example }: { required?: boolean; example?: Json } = {},
): Body {
  const media = { schema, ...(example === undefined ? {} : { example }) };
  return { description, required, content: { "application/json": media } };
}

/** A body of any bytes; their type is told by `Content-Type`. */
export function bytesBody(description: string): Body {
  return {
    description,
    required: false,
    content: { "application/octet-stream": {}, "*/*": {} },
  };
}

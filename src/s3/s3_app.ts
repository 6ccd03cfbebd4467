import { addCorsHeaders, optionsResponse } from "../http/browser_headers.ts";
import { errors, type HttpError } from "../http/http_error.ts";
import { observeEnd, type RequestContext, requestIdOf } from "../http/request_context.ts";
import { assertHost, Query } from "../http/request_target.ts";
import type { HttpResponse } from "../http/responses/http_response.ts";
import { withoutBody } from "../http/responses/http_response.ts";
import { verifySignature } from "./auth/signature.ts";
import { SigningKeys } from "./auth/signing_key.ts";
import { authenticate, type RoutedRequest } from "./authenticate.ts";
import { toS3Error } from "./s3_error.ts";
import { levelOf, type Operation, OperationTable } from "./operation.ts";
import { bucketOperations } from "./operations/buckets.ts";
import { configurationOperations } from "./operations/configuration.ts";
import { copyOperations } from "./operations/copy_object.ts";
import { deleteOperations } from "./operations/delete_objects.ts";
import { readOperations } from "./operations/get_object.ts";
import { listOperations } from "./operations/list_objects.ts";
import { attributeOperations } from "./operations/object_attributes.ts";
import { isForm, postObject } from "./operations/post_object.ts";
import { writeOperations } from "./operations/put_object.ts";
import { parseAddress } from "./request_address.ts";
import { headerLines, requestHeaders } from "./parameters.ts";
import type { S3Deps } from "./s3_call.ts";
import { errorResponse } from "./s3_response.ts";
import { completeOperations } from "./uploads/complete_upload.ts";
import { uploadListOperations } from "./uploads/list_uploads.ts";
import { uploadOperations } from "./uploads/start_upload.ts";
import { partOperations } from "./uploads/upload_part.ts";

export const operations: readonly Operation[] = [
  ...bucketOperations,
  ...listOperations,
  ...readOperations,
  ...writeOperations,
  ...copyOperations,
  ...deleteOperations,
  ...attributeOperations,
  ...uploadOperations,
  ...partOperations,
  ...completeOperations,
  ...uploadListOperations,
  ...configurationOperations,
];

const table = new OperationTable(operations);

/** Methods that browsers may use. */
const METHODS = "GET, HEAD, PUT, POST, DELETE, OPTIONS";

/** A request as it arrived. */
interface Incoming {
  request: Request;
  requestId: string;
  info: Deno.ServeHandlerInfo;
  context: RequestContext;
}

/** The S3 API: answers every request, and never throws. */
export function createS3App(
  deps: S3Deps,
): (request: Request, info: Deno.ServeHandlerInfo) => Promise<Response> {
  const signingKeys = new SigningKeys();
  return async (request, info) => {
    const requestId = requestIdOf(request.headers, signaturesIn(request));
    const context = deps.observer.begin(requestId, request.method);
    const incoming: Incoming = { request, requestId, info, context };
    const answer = await deps.running.track(
      request,
      () => dispatch(incoming, deps, signingKeys),
    ).catch((error: unknown) => failureOf(error, incoming, deps));
    const { headers } = answer;
    addCorsHeaders(headers, request.headers, deps.corsOrigins);
    if (headers.has("Access-Control-Allow-Origin")) {
      headers.set("Access-Control-Expose-Headers", "*");
    }
    headers.set("X-Request-Id", requestId);
    headers.set("x-amz-request-id", requestId);
    const sent = request.method === "HEAD" ? withoutBody(answer) : answer;
    observeEnd(incoming, sent, deps);
    return sent;
  };
}

/** A signature in a header or in the query. */
const SIGNATURE = /Signature=([^&,\s]+)/g;

/** Returns the signatures of a request. They are secrets: anyone can repeat a request with one while it is valid. */
function signaturesIn({ url, headers }: Request): string[] {
  const text = `${url} ${headers.get("authorization") ?? ""}`;
  return [...text.matchAll(SIGNATURE)].map(([, signature = ""]) => signature);
}

/** The response to bytes at the port of S3 that are no valid HTTP request. */
export function refuse(error: HttpError, requestId: string): Response {
  return errorResponse(toS3Error(error), "", requestId);
}

async function dispatch(
  incoming: Incoming,
  deps: S3Deps,
  signingKeys: SigningKeys,
): Promise<Response> {
  const { request, context } = incoming;
  const { method } = request;
  assertHost(request.headers);
  if (method === "OPTIONS") {
    deps.observer.route(context, "S3 OPTIONS", "other");
    return optionsResponse(request.headers, METHODS);
  }
  const address = parseAddress(request.url, request.headers.get("host"), deps.domain);
  const query = new Query(address.query);
  const headers = requestHeaders(request.headers, query);
  const routed: RoutedRequest = { ...incoming, headers, address, query };
  const level = levelOf(address);
  if (level === "bucket" && isForm(request) && table.subresourcesIn(query).length === 0) {
    deps.observer.route(context, "S3 PostObject", "upload");
    if (deps.isDraining()) throw errors.shuttingDown();
    return await postObject(routed, deps, signingKeys);
  }
  const selecting = { method, level, query, headers };
  const operation = table.find(selecting);
  deps.observer.route(context, `S3 ${operation?.name ?? "-"}`, operation?.kind ?? "other");
  if (deps.isDraining()) throw errors.shuttingDown();
  const raw = {
    method,
    headers: headerLines(request),
    path: address.path,
    query: address.query,
  };
  const call = await authenticate(
    routed,
    deps,
    (lookup) => verifySignature(raw, lookup, Date.now(), signingKeys),
  );
  if (operation === undefined) throw table.refusal(selecting);
  call.rights.require(...operation.permissions);
  if (level !== "service") call.rights.requireDrive(address.bucket);
  return await operation.handle(call, deps);
}

function failureOf(
  error: unknown,
  { request, requestId }: Incoming,
  { onError }: S3Deps,
): HttpResponse {
  const rendered = toS3Error(error);
  if (rendered.status >= 500 && rendered.cause !== undefined) onError(rendered.cause, requestId);
  const path = request.url.replace(/^[a-z]+:\/\/[^/?]*/, "").replace(/\?.*$/, "");
  return errorResponse(rendered, path, requestId);
}

import { keyRefusal } from "../http/authentication.ts";
import { errors } from "../http/http_error.ts";
import { clientAddress, requestOrigin } from "../http/network/client_address.ts";
import type { RequestContext } from "../http/request_context.ts";
import type { Query } from "../http/request_target.ts";
import type { FoundS3Key } from "../store/accounts/s3_keys.ts";
import { unknownKey, type Verified } from "./auth/signature.ts";
import type { RequestAddress } from "./request_address.ts";
import type { S3Call, S3Deps } from "./s3_call.ts";
import { type S3Code, S3Error } from "./s3_error.ts";

/** A request whose operation is known, but whose sender has not been authenticated. */
export interface RoutedRequest {
  request: Request;
  /** Those of the request and, if it is presigned, those in its query. */
  headers: Headers;
  requestId: string;
  info: Deno.ServeHandlerInfo;
  context: RequestContext;
  address: RequestAddress;
  query: Query;
}

/** The errors that count as wrong keys. */
const GUESSES: readonly S3Code[] = ["InvalidAccessKeyId", "SignatureDoesNotMatch"];

/**
 * Authenticates the sender of a request. Unknown access keys and wrong signatures are limited as wrong keys are.
 *
 * @param verify Checks the signature with the secrets that it looks up.
 * @throws {S3Error}
 * @throws {HttpError} 429 after too many wrong keys and signatures.
 */
export async function authenticate(
  routed: RoutedRequest,
  deps: S3Deps,
  verify: (
    lookup: (id: string) => Promise<{ secret: string; key: FoundS3Key } | undefined>,
  ) => Promise<Verified<FoundS3Key>>,
): Promise<S3Call> {
  const lookup = async (accessKeyId: string) => {
    const key = await deps.store.s3Keys.find(accessKeyId);
    return key && { secret: key.secret, key };
  };
  try {
    return callOf(routed, deps, await verify(lookup));
  } catch (error) {
    if (!(error instanceof S3Error && GUESSES.includes(error.code))) throw error;
    const address = () => addressOf(routed, deps);
    const { wrongKeys } = deps;
    const refusal = keyRefusal(errors.unknownKey(), routed.request.headers, { wrongKeys, address });
    throw refusal.status === 429 ? refusal : error;
  }
}

function callOf(
  routed: RoutedRequest,
  deps: S3Deps,
  verified: Verified<FoundS3Key>,
): S3Call {
  const { request, headers, requestId, info, context, address, query } = routed;
  const { project, rights } = verified.key;
  const { accessKeyId } = verified;
  context.key = accessKeyId;
  context.project = project;
  requireOwner(headers, project);
  return {
    request,
    headers,
    requestId,
    project,
    bucket: address.bucket,
    key: address.key,
    query,
    rights,
    verified,
    context,
    origin: () => requestOrigin(request.url, request.headers, info.remoteAddr, deps.trustedProxies),
    actor: () => ({ by: accessKeyId, address: addressOf(routed, deps) }),
    reauthorize: async () => {
      const age = performance.now() - context.began;
      if (await deps.store.s3Keys.isStillValid(accessKeyId, project, age)) return;
      throw unknownKey(accessKeyId);
    },
  };
}

/** Headers that name the owner of a bucket, which is the project of the access key. */
const OWNER_HEADERS = ["x-amz-expected-bucket-owner", "x-amz-source-expected-bucket-owner"];

/** @throws {S3Error} if the client expects that another project has the bucket. */
function requireOwner(headers: Headers, project: string): void {
  const isOther = OWNER_HEADERS.some((name) => (headers.get(name) ?? project) !== project);
  if (isOther) throw new S3Error("AccessDenied", `The owner of the bucket is ${project}`);
}

function addressOf({ info, request }: RoutedRequest, { trustedProxies }: S3Deps): string {
  return clientAddress(info.remoteAddr, request.headers, trustedProxies);
}

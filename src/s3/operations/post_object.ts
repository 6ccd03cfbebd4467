/**
 * Presigned forms: a web page lets its visitors upload a file to a bucket, within a policy that was signed with an access
 * key.
 *
 * @module
 */
import { announcedSize } from "../../http/body.ts";
import { type SizeRange, verifyPostPolicy } from "../auth/post_policy.ts";
import type { SigningKeys } from "../auth/signing_key.ts";
import { authenticate, type RoutedRequest } from "../authenticate.ts";
import { checksumHeaders } from "../object_checksum.ts";
import { refuseUnsupported } from "../object_headers.ts";
import { formPayload, MAX_FORM_OVERHEAD, readForm } from "../payload/post_form.ts";
import { setHeader } from "../parameters.ts";
import { isFolder, MAX_OBJECT_BODY, placeOf, type S3Deps } from "../s3_call.ts";
import { s3Errors } from "../s3_error.ts";
import { emptyResponse, xmlResponse } from "../s3_response.ts";
import { putBody } from "./put_object.ts";

/** Whether a request has a form as its body. */
export function isForm({ method, headers }: Request): boolean {
  const type = headers.get("content-type") ?? "";
  return method === "POST" && /^multipart\/form-data\s*(?:;|$)/i.test(type);
}

/** `PostObject`. The form carries the signature, so it is read up to the file before the sender is known. */
export async function postObject(
  routed: RoutedRequest,
  deps: S3Deps,
  signingKeys: SigningKeys,
): Promise<Response> {
  const { request, address, context } = routed;
  const limit = MAX_OBJECT_BODY + MAX_FORM_OVERHEAD;
  const { idleTimeout: idle, uploadPace: pace } = deps;
  const form = await readForm(request, { limit, idle, pace, context });
  const { fields } = form;
  let size: SizeRange | undefined;
  const call = await authenticate(routed, deps, async (lookup) => {
    const signed = { fields, bucket: address.bucket };
    const { key, accessKeyId, ...allowed } = await verifyPostPolicy(
      signed,
      lookup,
      Date.now(),
      signingKeys,
    );
    size = allowed.size;
    return { key, accessKeyId, isPresigned: true, payload: { kind: "unsigned" } };
  });
  call.rights.require("write");
  call.rights.requireDrive(address.bucket);
  const key = fields.get("key") ?? "";
  const place = placeOf(call, key);
  if (isFolder(key)) {
    throw s3Errors.badArgument("key", key, "a folder has no bytes: add a name after the slash");
  }
  const headers = headersOf(fields);
  refuseUnsupported(headers);
  const announced = announcedSize(request.headers, limit);
  const body = { ...formPayload(form, size), announced };
  const stored = await putBody(call, deps, { place, body, headers, condition: () => true });
  const { bucket, path } = address;
  const location = `${call.origin()}${path.replace(/\/$/, "")}/${encodeURI(key)}`;
  return respond(fields, { bucket, key, tag: stored.tag, location }, {
    ETag: `"${stored.tag}"`,
    ...checksumHeaders(stored.checksum),
  });
}

/** Returns the fields as the headers of a `PUT` request. @throws {S3Error} */
function headersOf(fields: ReadonlyMap<string, string>): Headers {
  const headers = new Headers();
  for (const [name, value] of fields) {
    if (FIELDS.has(name)) continue;
    setHeader(headers, name === "acl" ? "x-amz-acl" : name, value);
  }
  return headers;
}

/** Fields that do not describe the object. */
const FIELDS = new Set([
  "key",
  "policy",
  "bucket",
  "success_action_redirect",
  "redirect",
  "success_action_status",
  "x-amz-algorithm",
  "x-amz-credential",
  "x-amz-date",
  "x-amz-signature",
]);

/** What was stored. */
interface Stored {
  bucket: string;
  key: string;
  tag: string;
  location: string;
}

/** The response that the form asks for. */
function respond(
  fields: ReadonlyMap<string, string>,
  { bucket, key, tag, location }: Stored,
  headers: Record<string, string>,
): Response {
  const target = fields.get("success_action_redirect") ?? fields.get("redirect");
  const url = target === undefined ? undefined : parseTarget(target);
  if (url !== undefined) {
    for (const [name, value] of [["bucket", bucket], ["key", key], ["etag", `"${tag}"`]] as const) {
      url.searchParams.append(name, value);
    }
    return emptyResponse(303, { ...headers, Location: url.href });
  }
  switch (fields.get("success_action_status")) {
    case "200":
      return emptyResponse(200, { ...headers, Location: location });
    case "201":
      return xmlResponse(
        ["PostResponse", [
          ["Location", location],
          ["Bucket", bucket],
          ["Key", key],
          ["ETag", `"${tag}"`],
        ]],
        { ...headers, Location: location },
        201,
      );
    default:
      return emptyResponse(204, { ...headers, Location: location });
  }
}

/** Parses the URL of a redirect. An invalid one counts as absent, as with Amazon: the file is already stored. */
function parseTarget(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}

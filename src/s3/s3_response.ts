import { buildBounded, sendBounded } from "../http/responses/bounded_body.ts";
import { HttpResponse } from "../http/responses/http_response.ts";
import type { S3Call, S3Deps } from "./s3_call.ts";
import type { S3Error } from "./s3_error.ts";
import { optional, writeXml, type XmlElement } from "../xml/xml_writer.ts";

/** The namespace of all responses but errors. */
const NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";

const encoder = new TextEncoder();

export function xmlResponse(
  root: XmlElement,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): HttpResponse {
  return documentResponse(status, writeXml(root, NAMESPACE), headers);
}

export function emptyResponse(
  status: number,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const length: Record<string, string> = status === 204 ? {} : { "Content-Length": "0" };
  return new HttpResponse(null, { status, headers: { ...length, ...headers } });
}

/** The response to a request that failed. */
export function errorResponse(error: S3Error, resource: string, requestId: string): HttpResponse {
  const { code, message, details, status, headers } = error;
  const text = writeXml(["Error", [
    ["Code", code],
    ["Message", message],
    ...Object.entries(details),
    ...optional("Resource", resource),
    ["RequestId", requestId],
  ]], "");
  return documentResponse(status, text, headers);
}

function documentResponse(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): HttpResponse {
  const body = encoder.encode(text);
  return new HttpResponse(body, { status, headers: documentHeaders(body.byteLength, headers) });
}

function documentHeaders(
  length: number,
  headers: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    "Content-Type": "application/xml",
    "Content-Length": String(length),
    ...headers,
  };
}

/**
 * The response with a list. A large one holds memory of the budget until it is sent.
 *
 * @param estimate Memory for building the list, in bytes.
 * @throws {MemoryExhausted} if the memory does not become available in time.
 */
export async function listResponse(
  call: S3Call,
  deps: S3Deps,
  estimate: number,
  build: () => Promise<XmlElement>,
): Promise<HttpResponse> {
  const options = { estimate, isRepeatable: true };
  const encode = async () => encoder.encode(writeXml(await build(), NAMESPACE));
  const body = await buildBounded(call, deps, options, encode);
  const headers = documentHeaders(body.bytes.byteLength);
  return new HttpResponse(sendBounded(body, call, deps), { headers });
}

/** A time as XML has it: UTC to milliseconds. */
export function xmlTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

export function ownerOf({ project }: Pick<S3Call, "project">): XmlElement[] {
  return [["ID", project], ["DisplayName", project]];
}

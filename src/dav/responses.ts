import { HttpResponse } from "../http/responses/http_response.ts";
import { MULTISTATUS_END, MULTISTATUS_START } from "./properties/multistatus.ts";

const encoder = new TextEncoder();

export function emptyResponse(
  status: number,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const length: Record<string, string> = status === 204 ? {} : { "Content-Length": "0" };
  return new HttpResponse(null, { status, headers: { ...length, ...headers } });
}

export function xmlResponse(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const body = encoder.encode(text);
  return new HttpResponse(body, {
    status,
    headers: {
      ...headers,
      "Content-Type": "application/xml; charset=utf-8",
      "Content-Length": String(body.byteLength),
    },
  });
}

/** @param responses Elements `response`. */
export function multistatus(responses: string): HttpResponse {
  return xmlResponse(207, `${MULTISTATUS_START}${responses}${MULTISTATUS_END}`);
}

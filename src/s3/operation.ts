import type { RequestKind } from "../http/request_context.ts";
import type { Query } from "../http/request_target.ts";
import type { Permission } from "../rules/rights.ts";
import type { S3Call, S3Deps } from "./s3_call.ts";

/** What a request is about: all buckets, a bucket, or an object. */
export type Level = "service" | "bucket" | "object";

/** One operation of the S3 API: which requests it answers, and what it needs of the access key. */
export interface Operation {
  /** Its name in Amazon's API reference. */
  name: string;
  method: string;
  level: Level;
  /** A parameter that selects it, such as `uploads`; absent for the operation of a plain request. */
  parameter?: string;
  /** A header that selects it. */
  header?: string;
  /** The permissions that it needs. `handle` checks names, and buckets other than that of the request. */
  permissions: readonly Permission[];
  /** How its requests are counted while they run; `other` if absent. */
  kind?: RequestKind;
  handle: (call: S3Call, deps: S3Deps) => Promise<Response>;
}

/** The level of a request. */
export function levelOf({ bucket, key }: { bucket: string; key: string }): Level {
  if (bucket === "") return "service";
  return key === "" ? "bucket" : "object";
}

/** How a request selects its operation. */
interface Selecting {
  method: string;
  level: Level;
  query: Query;
  headers: Headers;
}

/**
 * Returns the operation of a request: of those that match, the one with the most selectors. `HEAD` without
 * an operation of its own is answered like `GET`.
 */
export function findOperation(
  operations: readonly Operation[],
  request: Selecting,
): Operation | undefined {
  const exact = mostSelective(operations, request, request.method);
  return exact === undefined && request.method === "HEAD"
    ? mostSelective(operations, request, "GET")
    : exact;
}

function mostSelective(
  operations: readonly Operation[],
  { level, query, headers }: Selecting,
  method: string,
): Operation | undefined {
  let best: Operation | undefined;
  for (const operation of operations) {
    if (operation.method !== method || operation.level !== level) continue;
    const { parameter, header } = operation;
    if (parameter !== undefined && query.all(parameter).length === 0) continue;
    if (header !== undefined && !headers.has(header)) continue;
    if (best === undefined || selectors(operation) > selectors(best)) best = operation;
  }
  return best;
}

function selectors({ parameter, header }: Operation): number {
  return Number(parameter !== undefined) + Number(header !== undefined);
}

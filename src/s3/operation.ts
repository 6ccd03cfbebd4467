import type { RequestKind } from "../http/request_context.ts";
import type { Query } from "../http/request_target.ts";
import type { Permission } from "../rules/rights.ts";
import type { S3Call, S3Deps } from "./s3_call.ts";
import { S3Error } from "./s3_error.ts";

/** What a request is about: all buckets, a bucket, or an object. */
export type Level = "service" | "bucket" | "object";

/** One operation of the S3 API: which requests it answers, and what it needs of the access key. */
export interface Operation {
  /** Its name in Amazon's API reference. */
  name: string;
  method: string;
  level: Level;
  /** The sub-resource that selects it: a parameter such as `uploads`. Absent for the bucket or object itself. */
  parameter?: string;
  /** A header that selects it. */
  header?: string;
  /** The permissions that it needs. `handle` checks names, and buckets other than that of the request. */
  permissions: readonly Permission[];
  /** How its requests are counted while they run; `other` if absent. */
  kind?: RequestKind;
  handle: (call: S3Call, deps: S3Deps) => Promise<Response>;
}

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

/** Sub-resources that Amazon or others have, and this server with no method. */
const FOREIGN = [
  ...["append", "annotation", "annotations", "metadataInventoryTable", "metadataJournalTable"],
  ...["object-lambda", "replication-metrics"],
];

/**
 * The operations, by what selects them: the method, whether a request is about a bucket or an object, and the
 * sub-resource. A request that names a sub-resource is about that and never about the bucket or the object itself:
 * `DELETE /bucket/key?restore` must not delete the object.
 */
export class OperationTable {
  readonly #operations: ReadonlyMap<string, Operation[]>;
  readonly #subresources: ReadonlySet<string>;

  constructor(operations: readonly Operation[]) {
    this.#operations = Map.groupBy(
      operations,
      ({ method, level, parameter }) => rowOf(method, level, parameter),
    );
    this.#subresources = new Set([
      ...FOREIGN,
      ...operations.flatMap(({ parameter }) => parameter ?? []),
    ]);
  }

  /** The names of the sub-resources in a query. */
  subresourcesIn(query: Query): string[] {
    return [...query.names()].filter((name) => this.#subresources.has(name));
  }

  /**
   * Returns the operation of a request: of several the one that a header selects. `HEAD` without an operation of its own
   * is answered like `GET`. `undefined` if there is none, or the request names several sub-resources.
   */
  find({ method, level, query, headers }: Selecting): Operation | undefined {
    const [subresource, ...others] = this.subresourcesIn(query);
    if (others.length > 0) return undefined;
    const of = (method: string) => {
      const row = this.#operations.get(rowOf(method, level, subresource)) ?? [];
      return row.find(({ header }) => header !== undefined && headers.has(header)) ??
        row.find(({ header }) => header === undefined);
    };
    return of(method) ?? (method === "HEAD" ? of("GET") : undefined);
  }

  /** The error of a request without an operation. */
  refusal(request: Selecting): S3Error {
    const { method, level, query } = request;
    const allowed = METHODS.filter((other) => this.find({ ...request, method: other }));
    const [subresource] = this.subresourcesIn(query);
    return new S3Error(
      "MethodNotAllowed",
      `The method ${method} is not allowed here: see Allow for others`,
      { Method: method, ResourceType: subresource ?? level },
      undefined,
      { Allow: allowed.join(", ") },
    );
  }
}

const METHODS = ["GET", "HEAD", "PUT", "POST", "DELETE"];

function rowOf(method: string, level: Level, subresource: string | undefined): string {
  return `${method} ${level} ${subresource ?? ""}`;
}

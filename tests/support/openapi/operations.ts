import { PROJECT_ID } from "../server.ts";

/** One method of one path, as `/openapi.json` tells it. */
export interface Operation {
  method: string;
  /** `/v1/{project_id}`. */
  path: string;
  /** The statuses that it can answer. */
  statuses: readonly number[];
  /** The security schemes that authorize a call; `"nothing"` if it needs no credentials. */
  openedBy: readonly string[];
}

/** A target for an operation; what stands in braces may be given. */
export function targetOf({ path }: Operation, given: Record<string, string> = {}): string {
  const values: Record<string, string> = {
    project_id: PROJECT_ID,
    drive_name: "drive",
    upload_id: "upload",
    app: "app",
    name: "key",
    prefix: "01234567",
    access_key_id: "KV0123456789ABCDEFGH",
    version: "0123456789abcdef",
    file: "main.js",
    id: "01J9Z3NDEKTSV4RRFFQ69G5FAV",
    token: "unknown",
    session_id: "01J9Z3NDEKTSV4RRFFQ69G5FAV",
    ticket: "unknown",
    ...given,
  };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "?");
  // An operation ignores parameters that it does not define.
  const isNamed = path.startsWith("/v1/") || path.startsWith("/dashboard/download/");
  return isNamed ? `${filled}?name=file&part=1` : filled;
}

/** Every operation that a server describes. */
export async function readOperations(origin: string): Promise<Operation[]> {
  const { paths } = await (await fetch(`${origin}/openapi.json`)).json() as Described;
  return Object.entries(paths).flatMap(([path, { parameters: _, ...methods }]) =>
    Object.entries(methods as Record<string, DescribedOperation>).map(([method, one]) => ({
      method: method.toUpperCase(),
      path,
      statuses: Object.keys(one.responses).map(Number),
      openedBy: one.security.length === 0
        ? ["nothing"]
        : one.security.map((schemes) => Object.keys(schemes)[0] ?? "nothing"),
    }))
  );
}

interface Described {
  paths: Record<string, { parameters: unknown } & Record<string, unknown>>;
}

interface DescribedOperation {
  security: Record<string, unknown>[];
  responses: Record<string, unknown>;
}

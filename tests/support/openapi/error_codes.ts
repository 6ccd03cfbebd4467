import { assert } from "@std/assert";

const ROW = /^\| `(\w+)` +\| (\d{3}) +\|/gm;

/** The statuses of all error codes, as docs/api.md lists them. */
export const ERROR_CODES: ReadonlyMap<string, number> = new Map(
  Array.from(
    Deno.readTextFileSync(new URL("../../../docs/api.md", import.meta.url)).matchAll(ROW),
    ([, code = "", status]) => [code, Number(status)],
  ),
);

/**
 * Returns what is wrong with the code of an answer that is an error of the server; `undefined` if it is a known code of
 * this status. Errors of applications have another form.
 */
export function errorCodeProblem(status: number, body: string): string | undefined {
  if (status < 400 || !body.startsWith('{"errors":')) return undefined;
  const { code } = JSON.parse(body) as { code?: unknown };
  const expected = typeof code === "string" ? ERROR_CODES.get(code) : undefined;
  if (expected === status) return undefined;
  const rule = expected === undefined ? "is not in docs/api.md" : `has the status ${expected}`;
  return `the error code ${JSON.stringify(code)} of a ${status} ${rule}`;
}

export function assertErrorCode(status: number, body: string): void {
  const problem = errorCodeProblem(status, body);
  assert(problem === undefined, `${problem}: ${body.slice(0, 500)}`);
}

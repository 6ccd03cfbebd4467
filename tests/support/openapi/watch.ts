/**
 * Every answer that a test gets from the main port of a server is compared with the description that the server serves at
 * `/openapi.json`. Where it is not as it is described, the call that got it fails.
 *
 * Not judged is what the runtime answers by itself to bytes that are no HTTP: 400 without anything, before the program
 * hears of a request.
 *
 * @module
 */

import { AssertionError } from "@std/assert";
import type { Answer } from "../answer.ts";
import { assertErrorCode, errorCodeProblem } from "./error_codes.ts";
import { checkExchange, type Exchange, isJson } from "./checks.ts";
import { Description } from "./description.ts";

type Input = URL | Request | string;
type Init = RequestInit & { client?: Deno.HttpClient };

/** Where servers listen whose answers are judged, and what was wrong there, also where a test did not look. */
const watched = new Map<number, string[]>();
const plainFetch: (input: Input, init?: Init) => Promise<Response> = globalThis.fetch;
let description: Promise<Description> | undefined;

/** Judges the answers of a server from now on. */
export async function checkAnswersOf(origin: string): Promise<void> {
  globalThis.fetch = judgedFetch;
  watched.set(portOf(origin), []);
  // Of one that speaks TLS it is read with the client of the first call, which trusts it.
  if (origin.startsWith("http:")) await descriptionOf(origin);
}

/** The server has ended: its port may be another's soon. @throws {AssertionError} what a test has not heard. */
export function endChecksOf(origin: string): void {
  try {
    assertChecksOf(origin);
  } finally {
    watched.delete(portOf(origin));
  }
}

/** @throws {AssertionError} what was wrong with the answers so far, also where a test did not look. */
export function assertChecksOf(origin: string): void {
  const problems = watched.get(portOf(origin))?.splice(0) ?? [];
  if (problems.length > 0) throw new AssertionError(problems.join("\n"));
}

/** Judges an answer that came over a connection of the test's own to a request of these bytes. */
export async function checkRawAnswer(
  port: number,
  request: string | Uint8Array,
  answer: Answer,
): Promise<void> {
  const { status, headers, bytes: body } = answer;
  assertErrorCode(status, answer.text);
  const line = /^([^\s]+) ([^\s]+) HTTP\/1\.[01]\r\n/.exec(latin1(request));
  const isRuntimes = !headers.has("X-Request-Id") && status >= 400 && body.length === 0;
  if (!watched.has(port) || line === null || isRuntimes) return;
  const [, method = "", target = ""] = line;
  const own = await descriptionOf(`http://127.0.0.1:${port}`);
  settle(port, own, { method, target, status, headers, body });
}

async function judgedFetch(input: Input, init?: Init): Promise<Response> {
  const response = await plainFetch(input, init);
  const url = new URL(input instanceof Request ? input.url : input);
  const port = portOf(url.origin);
  const { status, headers } = response;
  if (!watched.has(port)) {
    if (status >= 400 && headers.get("Content-Type") === "application/json") {
      assertErrorCode(status, textOf(await bytesOf(response.clone())));
    }
    return response;
  }
  const method = methodOf(input, init);
  const target = url.pathname + url.search;
  const own = await descriptionOf(url.origin, init?.client);
  const answered = { method, target, status, headers };
  const body = isJson(own, answered) ? await bytesOf(response.clone()) : undefined;
  settle(port, own, { ...answered, body });
  return response;
}

/** @throws {AssertionError} where an answer is not as it is described. */
function settle(port: number, own: Description, exchange: Exchange): void {
  const { pair, problems } = checkExchange(own, exchange);
  const codeProblem = errorCodeProblem(exchange.status, textOf(exchange.body));
  if (codeProblem !== undefined) problems.push(codeProblem);
  if (problems.length === 0) return;
  const { method, target, status } = exchange;
  const asked = `${method} ${target.slice(0, 200)}`;
  const text = `${asked} got ${status}, which /openapi.json describes otherwise (${pair}): ${
    problems.join("; ")
  }`;
  watched.get(port)?.push(text);
  throw new AssertionError(text);
}

/** Read once for all servers of the process: they run the same program. */
function descriptionOf(origin: string, client?: Deno.HttpClient): Promise<Description> {
  description ??= readDescription(origin, client);
  return description;
}

async function readDescription(origin: string, client?: Deno.HttpClient): Promise<Description> {
  const init = client === undefined ? {} : { client };
  const response = await plainFetch(`${origin}/openapi.json`, init);
  if (!response.ok) throw new Error(`${origin}/openapi.json answers ${response.status}`);
  return new Description(await response.json());
}

/** Nothing where the connection broke: then there is no JSON to judge, and the test sees the same. */
async function bytesOf(response: Response): Promise<Uint8Array | undefined> {
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (error instanceof TypeError || error instanceof DOMException) return undefined;
    throw error;
  }
}

function textOf(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes);
}

/** The method as `fetch` sends it. */
function methodOf(input: Input, init: Init | undefined): string {
  const method = init?.method ?? (input instanceof Request ? input.method : "GET");
  return new Request("http://localhost", { method }).method;
}

function portOf(origin: string): number {
  const { port, protocol } = new URL(origin);
  return Number(port || (protocol === "https:" ? 443 : 80));
}

function latin1(bytes: string | Uint8Array): string {
  if (typeof bytes === "string") return bytes;
  return Array.from(bytes.subarray(0, 70_000), (byte) => String.fromCharCode(byte)).join("");
}

import type { Description, Place } from "./description.ts";

/** A request and what it was answered. */
export interface Exchange {
  method: string;
  /** Path and query as they were sent. */
  target: string;
  status: number;
  headers: Headers;
  /** The body where it was read; a download is judged by its headers alone. */
  body: Uint8Array | undefined;
}

export interface CheckResult {
  /** What was answered, as the description names it: `GET /v1/{project_id} 200`. */
  pair: string;
  /** What of the answer is not as it is described. */
  problems: string[];
}

/** Headers that HTTP itself puts on every answer; the description names them once, in its introduction. */
const GENERAL = new Set([
  "connection",
  "content-length",
  "content-type",
  "date",
  // Older runtimes say so of what they might pack.
  "vary",
  "transfer-encoding",
]);

/** Compares an answer with its description. */
export function checkExchange(description: Description, exchange: Exchange): CheckResult {
  const { method, status } = exchange;
  const found = description.pathOf(pathOf(exchange));
  const path = found?.path ?? "(any other path)";
  const described = answerOf(description, found?.item, exchange);
  const pair = `${described?.isOther ? "(any other method)" : method} ${path} ${status}`;
  if (described === undefined) return { pair, problems: ["this status is not described"] };
  const problems = [
    ...headerProblems(description, described.answer, ofAnyRuntime(exchange.headers)),
    ...bodyProblems(description, described.answer, exchange),
  ];
  return { pair, problems };
}

/** Whether an answer has a JSON body by its description. A stream of events, which does not end, says so itself. */
export function isJson(
  description: Description,
  exchange: Pick<Exchange, "method" | "target" | "status" | "headers">,
): boolean {
  if (exchange.headers.get("Content-Type")?.startsWith("text/event-stream")) return false;
  const { item } = description.pathOf(pathOf(exchange)) ?? {};
  const described = answerOf(description, item, exchange);
  const { content } = described?.answer.node ?? {};
  return typeof content === "object" && content !== null && "application/json" in content;
}

interface Described {
  answer: Place;
  /** Whether no operation is described that would answer. */
  isOther: boolean;
}

/** Where an answer is described; `undefined` where it is not. */
function answerOf(
  description: Description,
  item: Place | undefined,
  { method, target, status }: Pick<Exchange, "method" | "target" | "status">,
): Described | undefined {
  const operation = item?.node[method.toLowerCase()];
  if (item !== undefined && operation !== undefined && method === method.toUpperCase()) {
    const responses = description.in(description.in(item, method.toLowerCase()), "responses");
    if (!(status in responses.node)) return undefined;
    return { answer: description.in(responses, String(status)), isOther: false };
  }
  const others = new Map([[400, "BadRequest"]]);
  if (item === undefined) others.set(404, "NotFound");
  if (item !== undefined || pathOf({ method, target }) === NO_PATH) {
    others.set(405, "MethodNotAllowed");
  }
  const name = others.get(status);
  if (name === undefined) return undefined;
  return { answer: description.component("responses", name), isOther: true };
}

/** The headers without what keeps older runtimes from packing answers, of which the description does not speak. */
function ofAnyRuntime(headers: Headers): Headers {
  const copy = new Headers(headers);
  const told = copy.get("cache-control")?.replace(/(?:, )?no-transform$/, "");
  if (told === "") copy.delete("cache-control");
  else if (told !== undefined) copy.set("cache-control", told);
  return copy;
}

function headerProblems(description: Description, answer: Place, headers: Headers): string[] {
  const described = description.in(answer, "headers");
  const known = new Set(Object.keys(described.node).map((name) => name.toLowerCase()));
  const problems = [...headers.keys()]
    .filter((name) => !GENERAL.has(name) && !known.has(name))
    .map((name) => `the header ${name} is not described`);
  for (const name of Object.keys(described.node)) {
    const header = description.in(described, name);
    const value = headers.get(name);
    if (value === null) {
      if (header.node["required"] === true) problems.push(`the header ${name} is missing`);
      continue;
    }
    const misfits = description.misfits(description.in(header, "schema"), value);
    problems.push(...misfits.map((misfit) => `the header ${name}: ${value}: ${misfit}`));
  }
  return problems;
}

function bodyProblems(
  description: Description,
  answer: Place,
  { method, headers, body }: Exchange,
): string[] {
  const hasContent = "content" in answer.node && method !== "HEAD";
  if (!hasContent) {
    return body !== undefined && body.length > 0 ? ["a body, where none is described"] : [];
  }
  const content = description.in(answer, "content");
  const type = (headers.get("Content-Type") ?? "").split(";")[0]?.trim() ?? "";
  const range = [type, "*/*"].find((one) => one in content.node);
  if (range === undefined) return [`the content type ${type} is not described`];
  if (range !== "application/json" || body === undefined) return [];
  const value = parse(body);
  if (value === undefined) return ["the body is not JSON"];
  const schema = description.in(description.in(content, range), "schema");
  return description.misfits(schema, value).map((misfit) => `the body: ${misfit}`);
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/** `OPTIONS *` and `CONNECT host:port` name no path. */
const NO_PATH = "";

/** The path of a target, which may be a whole address, or `*` for the server itself (RFC 9112, 3.2.2 and 3.2.4). */
function pathOf({ method, target }: Pick<Exchange, "method" | "target">): string {
  if (target === "*" && method === "OPTIONS") return "/";
  const address = /^https?:\/\/[^/?#]*/i;
  if (!address.test(target) && !target.startsWith("/")) return NO_PATH;
  const path = target.replace(address, "").split("?")[0] ?? "";
  return path === "" ? "/" : path;
}

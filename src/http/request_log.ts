import { NO_ROUTE, type RequestContext, type RequestRecorder } from "./request_context.ts";

export type LogFormat = "text" | "json";

/** Health checks request these every few seconds, so only failures are logged. */
const PROBES = new Set(["/healthz", "/readyz"]);

/**
 * Writes one line for each request. Of the text that a caller sent it contains only the request id, which has no characters
 * that a terminal or a parser would interpret.
 */
export class RequestLog implements RequestRecorder {
  readonly #format: (context: RequestContext, time: string, milliseconds: string) => string;
  #second = -1;
  #timeOfSecond = "";

  constructor(format: LogFormat, private readonly write: (line: string) => void) {
    this.#format = format === "json" ? jsonLine : textLine;
  }

  /** Writes the line of a request that took so many milliseconds. */
  record(context: RequestContext, milliseconds: number): void {
    if (context.status === 200 && PROBES.has(context.route)) return;
    // Rounded to microseconds.
    const took = String(Math.round(milliseconds * 1000) / 1000);
    this.write(this.#format(context, this.#timeOf(Date.now()), took));
  }

  /** The time as `2026-01-31T12:00:00.000Z`. Everything but the milliseconds is cached for the second. */
  #timeOf(now: number): string {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#timeOfSecond = new Date(second * 1000).toISOString().slice(0, -4);
    }
    return `${this.#timeOfSecond}${String(now - second * 1000).padStart(3, "0")}Z`;
  }
}

/** Ids, methods, routes and names of applications have only characters that need no escaping in JSON. */
function jsonLine(context: RequestContext, time: string, took: string): string {
  const { id, method, route, app, status, received, sent, key } = context;
  return `{"time":"${time}","level":"info","id":"${id}","method":"${method}","route":${
    route === NO_ROUTE ? "null" : `"${route}"`
  }${app === undefined ? "" : `,"app":"${app}"`},"status":${
    status === 0 ? "null" : status
  },"in":${received},"out":${sent},"ms":${took},"key":${
    key === undefined ? "null" : JSON.stringify(key)
  }${context.isAborted ? ',"aborted":true' : ""}}\n`;
}

function textLine(context: RequestContext, time: string, took: string): string {
  const { id, method, route, app, status, received, sent, key = "-" } = context;
  const place = app === undefined ? route : `${route} ${app}`;
  const end = context.isAborted ? " aborted" : "";
  return `${time} ${method} ${place} ${
    status === 0 ? "-" : status
  } in=${received} out=${sent} ${took}ms key=${key} id=${id}${end}\n`;
}

/** The line that reports how many lines were dropped. */
export function droppedLine(format: LogFormat, count: number): string {
  const time = new Date().toISOString();
  return format === "json"
    ? `{"time":"${time}","level":"warn","dropped":${count}}\n`
    : `${time} warning: ${count} log lines were dropped, because the reader of the log was too slow\n`;
}

import { NO_ROUTE, type RequestContext } from "./request_context.ts";

/** How lines of the log look. */
export type LogFormat = "text" | "json";

/** What a container's health checks ask every few seconds. They are told of only where something is wrong. */
const PROBES = new Set(["/healthz", "/readyz"]);

/**
 * Tells of each request in one line. Nothing that a caller wrote is in it but the id, which has no character that a
 * terminal or a parser obeys.
 */
export class RequestLog {
  readonly #write: (line: string) => void;
  readonly #format: (context: RequestContext, time: string, milliseconds: string) => string;
  #second = -1;
  #timeOfSecond = "";

  constructor(form: LogFormat, write: (line: string) => void) {
    this.#write = write;
    this.#format = form === "json" ? jsonLine : textLine;
  }

  record(context: RequestContext, milliseconds: number): void {
    if (context.status === 200 && PROBES.has(context.route)) return;
    // Microseconds: what is told below is noise.
    const took = String(Math.round(milliseconds * 1000) / 1000);
    this.#write(this.#format(context, this.#timeOf(Date.now()), took));
  }

  /** `2026-01-31T12:00:00.000Z`, of which all but the end is the same for many requests. */
  #timeOf(now: number): string {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#timeOfSecond = new Date(second * 1000).toISOString().slice(0, -4);
    }
    return `${this.#timeOfSecond}${String(now - second * 1000).padStart(3, "0")}Z`;
  }
}

/** Quotes are enough around ids, methods, routes and names of applications: they are checked to have plain characters. */
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

/** The line that tells how many lines could not be written. */
export function droppedLine(form: LogFormat, count: number): string {
  const time = new Date().toISOString();
  return form === "json"
    ? `{"time":"${time}","level":"warn","dropped":${count}}\n`
    : `${time} warning: ${count} lines of the log were left out, as nobody took them\n`;
}

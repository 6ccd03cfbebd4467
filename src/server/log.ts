import { droppedLine, type LogFormat, RequestLog } from "../http/request_log.ts";
import { type LogFailure, type LogNotice, serverLog } from "../cli/terminal/output.ts";
import { LogWriter } from "./log_writer.ts";

/** Bytes that a write to a pipe keeps together (POSIX, PIPE_BUF of Linux), also if other processes write to it. */
const PIPE_BUF = 4096;

/** Returns the format of the log of a program: text on a terminal, else JSON, unless configured. */
export function logFormatOf(
  { log, json }: { log: LogFormat | "off" | undefined; json: boolean },
): LogFormat | "off" {
  return log ?? (json || !Deno.stdout.isTerminal() ? "json" : "text");
}

/** Where a server reports its requests, failures and notices. */
export interface ServerLog {
  /** Absent if requests are not logged. */
  readonly requests: RequestLog | undefined;
  readonly onError: LogFailure;
  readonly onNotice: LogNotice;
  /** Returns the number of lines that were dropped because the reader was too slow. */
  dropped(): number;
  /** Starts to write the lines of requests, once nothing else is printed to the same place. */
  open(): void;
  /** Writes the rest. */
  close(): Promise<void>;
}

/**
 * Returns the log of a program: requests on standard output, the rest on standard error.
 *
 * @param format `off` leaves out the requests only.
 * @param processes The number of processes that write to the same place.
 */
export function standardLog(format: LogFormat | "off", processes = 1): ServerLog {
  const others = serverLog(format);
  if (format === "off") return { ...UNUSED, ...others };
  const maxWrite = processes === 1 ? undefined : PIPE_BUF;
  const writer = new LogWriter(Deno.stdout, (count) => droppedLine(format, count), maxWrite);
  return {
    ...others,
    requests: new RequestLog(format, (line) => writer.add(line)),
    dropped: () => writer.dropped,
    open: () => writer.open(),
    close: () => writer.close(),
  };
}

/** Returns a log that calls a function with each line, which is JSON. */
export function functionLog(log: (line: string) => void): ServerLog {
  const write = (line: string) => {
    try {
      log(line.trimEnd());
    } catch {
      // A log that fails must not fail requests.
    }
  };
  return { ...UNUSED, ...serverLog("json", write), requests: new RequestLog("json", write) };
}

const UNUSED = {
  requests: undefined,
  dropped: () => 0,
  open: () => {},
  close: () => Promise.resolve(),
};

/** A log that nothing reads. */
export const NO_LOG: ServerLog = { ...UNUSED, onError: () => {}, onNotice: () => {} };

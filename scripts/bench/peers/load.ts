import { join } from "@std/path/join";
import { STRIDE } from "../load.ts";
import { runToEnd, type Scope } from "../scope.ts";
import { NAME_DIGITS, rawRequest, type Template } from "./template.ts";

/** Requests to a server, each connection's next one as soon as its last is answered. */
export interface PeerLoad {
  origin: string;
  /** The targets that are read, in scattered order if they are many, and the headers of each request. */
  read?: { targets: readonly string[]; headers: Readonly<Record<string, string>> };
  /** Uploads, which are every `every`th request: 1 if nothing is read. Their names are numbers from `from` on. */
  write?: {
    template: Template;
    from: number;
    every: number;
    /** Whether each connection uploads to one name again and again. Such requests are made only once. */
    isRepeated: boolean;
  };
  connections: number;
  seconds: number;
}

/** What was answered, all with a status of success. */
export interface PeerLoadResult {
  requests: number;
  /** Bytes of the answers. */
  bytes: number;
  seconds: number;
}

/** What the script prints at the end. The duration is in microseconds. */
interface WrkSummary {
  requests: number;
  bytes: number;
  duration: number;
  errors: number;
}

/** Files that the script reads. */
export interface ScriptFiles {
  /** The targets to read, one a line. */
  targets: string;
  /** An upload before and after its name. */
  before: string;
  after: string;
}

/**
 * Sends a load with wrk. The requests are complete before they are sent, save for a name, so that bodies of several parts
 * and headers of every kind cost wrk the same.
 *
 * @throws if a request fails.
 */
export async function runPeerLoad(scope: Scope, load: PeerLoad): Promise<PeerLoadResult> {
  const folder = await scope.makeFolder();
  const files = {
    targets: join(folder, "targets"),
    before: join(folder, "before"),
    after: join(folder, "after"),
  };
  await writeFiles(load, files);
  const script = join(folder, "load.lua");
  await Deno.writeTextFile(script, peerScript(load, files));
  const threads = load.write?.isRepeated ? load.connections : 1;
  const output = await runToEnd(scope, "wrk", {
    args: [
      `--threads=${threads}`,
      `--connections=${load.connections}`,
      `--duration=${load.seconds}s`,
      "--timeout=60s",
      `--script=${script}`,
      load.origin,
    ],
  });
  await Deno.remove(folder, { recursive: true });
  return resultOf(output, load.origin);
}

async function writeFiles({ origin, read, write }: PeerLoad, files: ScriptFiles): Promise<void> {
  await Deno.writeTextFile(
    files.targets,
    (read?.targets ?? []).map((path) => `${path}\n`).join(""),
  );
  if (write === undefined) return;
  const { before, after } = rawRequest(origin, write.template);
  await Deno.writeFile(files.before, before);
  await Deno.writeFile(files.after, after);
}

/** Reads what `DONE` prints. @throws if a request failed. */
export function resultOf(output: string, origin: string): PeerLoadResult {
  const line = output.split("\n").find((line) => line.startsWith("{"));
  if (line === undefined) throw new Error(`Cannot read the output of wrk: ${output}`);
  const { requests, bytes, duration, errors }: WrkSummary = JSON.parse(line);
  if (errors > 0 || requests === 0) {
    throw new Error(`${errors} requests to ${origin} failed, ${requests} were answered`);
  }
  return { requests, bytes, seconds: duration / 1e6 };
}

/** The Lua script that makes the requests. A request that never changes is made once. */
export function peerScript({ origin, read, write }: PeerLoad, files: ScriptFiles): string {
  const head = rawRequest(origin, { method: "GET", target: "{n}", headers: read?.headers ?? {} });
  const hasTemplate = write?.template.target.includes("{n}") ?? false;
  const upload = (number: string): string =>
    hasTemplate
      ? `before .. string.format("%0${NAME_DIGITS}d", ${write?.from ?? 0} + ${number}) .. after`
      : "before";
  const isFixed = write === undefined ? read?.targets.length === 1 : write.isRepeated;
  const fixed = write === undefined ? "reads[1]" : upload("id");
  return `local threads = 0
function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

local reads, before, after = {}, "", ""
${CONTENTS}
function init(args)
  for target in io.lines(${lua(files.targets)}) do
    reads[#reads + 1] = "GET " .. target .. ${lua(decoder.decode(head.after))}
  end
${
    write === undefined
      ? ""
      : `  before, after = contents(${lua(files.before)}), contents(${lua(files.after)})\n`
  }\
${isFixed ? `  local fixed = ${fixed}\n  wrk.format = function() return fixed end\n` : ""}\
end
${isFixed ? "" : changing(write, upload("n"))}${DONE}`;
}

function changing(write: PeerLoad["write"], upload: string): string {
  const writing = write === undefined
    ? ""
    : `  if n % ${write.every} == 0 then return ${upload} end\n`;
  return `
local n = -1
function request()
  n = n + 1
${writing}\
  return reads[n * ${STRIDE} % #reads + 1]
end
`;
}

const decoder = new TextDecoder();

/** A Lua string; the escapes of JSON that occur here are the same. */
export function lua(text: string): string {
  return JSON.stringify(text);
}

/** The Lua function that reads a file. */
export const CONTENTS = `local function contents(path)
  local file = io.open(path, "rb")
  local text = file:read("*a")
  file:close()
  return text
end
`;

/** The end of a script: prints what was answered. */
export const DONE = `
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '{"requests":%d,"bytes":%d,"duration":%d,"errors":%d}\\n',
    summary.requests, summary.bytes, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout))
end
`;

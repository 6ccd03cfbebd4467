import { join } from "@std/path/join";
import { runToEnd, type Scope } from "../scope.ts";
import {
  CONTENTS,
  DONE,
  lua,
  type PeerLoad,
  type PeerLoadResult,
  resultOf,
  runPeerLoad,
} from "./load.ts";
import type { S3Access } from "./peer.ts";
import { nameOf } from "./template.ts";

/** S3 requests to a server. Each connection sends its next request when the last one is answered. */
export interface S3Load {
  access: S3Access;
  method: "GET" | "PUT";
  /** `{n}` stands for the name of a new object. Without it, all requests are the same. */
  target: string;
  /** The number of the first new name. */
  from: number;
  body?: Uint8Array<ArrayBuffer>;
  connections: number;
  seconds: number;
}

/** Names that are signed for each second of a load. Signing takes as long as the load. */
const NAMES_PER_SECOND = 25_000;

/** Files that the script reads. */
export interface S3ScriptFiles {
  /** The heads of the requests, each ended by a NUL. */
  heads: string;
  body: string;
}

/** Sends a load. @throws if a request fails. */
export async function runLoad(scope: Scope, load: PeerLoad | S3Load): Promise<PeerLoadResult> {
  return "access" in load ? await runS3Load(scope, load) : await runPeerLoad(scope, load);
}

/** Sends a load with wrk. The requests are signed in advance: signatures are valid for some minutes. */
async function runS3Load(scope: Scope, load: S3Load): Promise<PeerLoadResult> {
  const { access: { origin }, connections, seconds, body } = load;
  const folder = await scope.makeFolder();
  const files = { heads: join(folder, "heads"), body: join(folder, "body") };
  const heads = signedHeads(load, new Date());
  await Deno.writeTextFile(files.heads, heads.map((head) => `${head}\0`).join(""));
  await Deno.writeFile(files.body, body ?? new Uint8Array());
  const script = join(folder, "load.lua");
  await Deno.writeTextFile(script, s3Script(heads.length, files));
  const output = await runToEnd(scope, "wrk", {
    args: [
      "--threads=1",
      `--connections=${connections}`,
      `--duration=${seconds}s`,
      "--timeout=60s",
      `--script=${script}`,
      origin,
    ],
  });
  await Deno.remove(folder, { recursive: true });
  const result = resultOf(output, origin);
  if (heads.length > 1 && result.requests > heads.length) {
    throw new Error(`${origin} took ${result.requests} uploads: more than there are new names`);
  }
  return result;
}

/** The heads of the requests: one, or one for each new name. */
export function signedHeads(load: S3Load, time: Date): string[] {
  const { access: { origin, signer }, method, target, from, body, seconds } = load;
  const names = target.includes("{n}") ? NAMES_PER_SECOND * seconds : 1;
  const { host } = new URL(origin);
  return Array.from({ length: names }, (_, index) => {
    const own = target.replace("{n}", nameOf(from + index));
    const signature = signer.sign({ method, target: own, ...(body && { body }), time });
    const fields = {
      Host: host,
      ...signature,
      ...(body && { "Content-Length": String(body.byteLength) }),
    };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    return `${method} ${own} HTTP/1.1\r\n${lines}\r\n`;
  });
}

/** The Lua script that sends the requests. A request that never changes is built once. */
export function s3Script(count: number, { heads, body }: S3ScriptFiles): string {
  const next = count === 1
    ? `  local fixed = heads[1] .. body
  wrk.format = function() return fixed end
end
`
    : `end

local n = -1
function request()
  n = n + 1
  return heads[n % #heads + 1] .. body
end
`;
  return `local heads, body = {}, ""
${CONTENTS}
function init(args)
  body = contents(${lua(body)})
  for head in contents(${lua(heads)}):gmatch("%Z+") do
    heads[#heads + 1] = head
  end
${next}${DONE}`;
}

/**
 * Calls the official JavaScript client as it is published and prints what came back. It runs in a
 * process of its own, because it has to trust the authority of the test (`--cert`) and because the
 * client reads the environment of its process.
 *
 * Standard input: a JSON list of calls. Standard output: a JSON list of their outcomes.
 */

import { encodeBase64 } from "@std/encoding/base64";
import { Deta } from "deta";
import { patternBytes, sha256Hex } from "../bytes.ts";
import { checkAnswersOf } from "../openapi/watch.ts";
import type { DetaCall, DetaOutcome, DetaSource } from "./client.ts";

type Client = ReturnType<ReturnType<typeof Deta>["Drive"]>;
type PutOptions = Parameters<Client["put"]>[1];

/** Files up to this size come back as they are, larger ones as their digest. */
const INLINE = 4096;

const { key, drive, host, calls }: {
  key: string;
  drive: string;
  host: string | undefined;
  calls: DetaCall[];
} = JSON.parse(await new Response(Deno.stdin.readable).text());

await checkAnswersOf(`https://${host ?? Deno.env.get("DETA_DRIVE_HOST")}`);
const client = Deta(key).Drive(drive, host);
const outcomes: DetaOutcome[] = [];
for (const call of calls) outcomes.push(await attempt(call));
const output = new TextEncoder().encode(JSON.stringify(outcomes));
for (let sent = 0; sent < output.length;) sent += await Deno.stdout.write(output.subarray(sent));

async function attempt(call: DetaCall): Promise<DetaOutcome> {
  try {
    return { value: await run(call) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

async function run(call: DetaCall): Promise<unknown> {
  switch (call.do) {
    case "put":
      return await client.put(call.name, putOptions(call.source, call.contentType));
    case "get":
      return await describe(await client.get(call.name));
    case "list":
      return await client.list(call.options);
    case "delete":
      return await client.delete(call.name);
    case "deleteMany":
      return await client.deleteMany(call.names);
  }
}

function putOptions(source: DetaSource, contentType: string | undefined): PutOptions {
  const type = contentType === undefined ? {} : { contentType };
  if ("path" in source) return { path: source.path, ...type };
  if ("text" in source) return { data: source.text, ...type };
  return { data: patternBytes(source.size, source.seed), ...type };
}

async function describe(blob: Blob | null | undefined): Promise<unknown> {
  if (blob === null || blob === undefined) return null;
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const sha256 = await sha256Hex(bytes);
  const inline = bytes.length <= INLINE ? { base64: encodeBase64(bytes) } : {};
  return { size: bytes.length, sha256, type: blob.type, ...inline };
}

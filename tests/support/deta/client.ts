import { deadline } from "@std/async/deadline";
import { fromFileUrl } from "@std/path/from-file-url";
import { PROJECT_KEY } from "../server.ts";

const SCRIPT = fromFileUrl(new URL("./client_script.ts", import.meta.url));

/** Where the client takes a file's bytes from: its three forms of `put`. */
export type DetaSource =
  | { text: string }
  | { path: string }
  | { size: number; seed: number };

export type DetaCall =
  | { do: "put"; name: string; source: DetaSource; contentType?: string }
  | { do: "get"; name: string }
  | {
    do: "list";
    options?: { recursive?: boolean; prefix?: string; limit?: number; last?: string };
  }
  | { do: "delete"; name: string }
  | { do: "deleteMany"; names: string[] };

/** What the client resolved to, or the message of what it threw. */
export interface DetaOutcome {
  value?: unknown;
  error?: string;
}

export interface DetaSession {
  /** The certificate of the authority, as a file. */
  authority: string;
  host: string;
  drive: string;
  key?: string;
  /** The host by `DETA_DRIVE_HOST` instead of an argument. */
  byEnvironment?: boolean;
}

/** Runs the official client's calls one after another in a process of its own. */
export async function callDetaClient(
  session: DetaSession,
  calls: readonly DetaCall[],
): Promise<DetaOutcome[]> {
  const { authority, host, drive, key = PROJECT_KEY, byEnvironment = false } = session;
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--cert", authority, SCRIPT],
    env: { NO_COLOR: "1", ...(byEnvironment ? { DETA_DRIVE_HOST: host } : {}) },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const input = { key, drive, calls, ...(byEnvironment ? {} : { host }) };
  const output = process.output();
  await writeInput(process.stdin, JSON.stringify(input));
  try {
    const { code, stdout, stderr } = await deadline(output, 120_000);
    const text = new TextDecoder().decode(stdout);
    if (code !== 0) throw new Error(`${text}${new TextDecoder().decode(stderr)}`);
    return JSON.parse(text);
  } catch (error) {
    await endIfRunning(process);
    throw error;
  }
}

async function writeInput(stdin: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch (error) {
    // The process ended early: its output has the reason.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

async function endIfRunning(process: Deno.ChildProcess): Promise<void> {
  try {
    process.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  await process.status;
}

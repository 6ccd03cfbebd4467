import { fromFileUrl } from "@std/path/from-file-url";
import { Drive, query, Upload } from "../../support/drive.ts";
import type { TestServer } from "../../support/server.ts";

/** Aborts all open uploads, including those whose id no client received. */
export async function abortAll(server: TestServer, drives: readonly string[]): Promise<void> {
  for (const name of drives) {
    const drive = new Drive(server, name);
    for (const { name: file, upload_id } of await openUploads(drive)) {
      (await new Upload(drive, file, upload_id).abort()).expect(200);
    }
    const left = await openUploads(drive);
    if (left.length > 0) throw new Error(`${left.length} uploads are still open after the abort`);
  }
}

async function openUploads(drive: Drive): Promise<{ name: string; upload_id: string }[]> {
  const uploads: { name: string; upload_id: string }[] = [];
  for (let last = "";;) {
    const answer = await drive.send("GET", `/uploads${query({ limit: 1000, last })}`);
    const page = answer.expect(200).json as {
      uploads: { name: string; upload_id: string }[];
      paging?: { last: string };
    };
    uploads.push(...page.uploads);
    if (page.paging === undefined) return uploads;
    last = page.paging.last;
  }
}

const SCRIPT = fromFileUrl(new URL("../../../scripts/sweep_store.ts", import.meta.url));

/**
 * Sweeps the store in a data folder as if all short deadlines had passed. No server may have it open.
 *
 * @param env Environment variables of the sweeping process.
 */
export async function sweepStore(data: string, env: Record<string, string> = {}): Promise<void> {
  const { success, stderr } = await spawnSweep(data, env).output();
  if (!success) throw new Error(`The sweep failed: ${new TextDecoder().decode(stderr)}`);
}

/** Sweeps like `sweepStore`, but kills the process after a number of milliseconds. */
export async function breakSweep(data: string, after: number): Promise<void> {
  const process = spawnSweep(data);
  const timer = setTimeout(() => kill(process), after);
  const { success, signal, stderr } = await process.output();
  clearTimeout(timer);
  if (success || signal === "SIGKILL") return;
  throw new Error(`The sweep failed: ${new TextDecoder().decode(stderr)}`);
}

function kill(process: Deno.ChildProcess): void {
  try {
    process.kill("SIGKILL");
  } catch (error) {
    // It has already ended.
    if (!(error instanceof TypeError)) throw error;
  }
}

function spawnSweep(data: string, env: Record<string, string> = {}): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", SCRIPT, data],
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

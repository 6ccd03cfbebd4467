import { fromFileUrl } from "@std/path";

const SCRIPT = fromFileUrl(new URL("../../../scripts/sweep_store.ts", import.meta.url));

/**
 * Sweeps the store in a data folder that no server has open, as if all short deadlines were over.
 *
 * @param env Settings of the process that sweeps.
 */
export async function sweepStore(data: string, env: Record<string, string> = {}): Promise<void> {
  const { success, stderr } = await spawnSweep(data, env).output();
  if (!success) throw new Error(`The sweep failed: ${new TextDecoder().decode(stderr)}`);
}

/** The same, but it is killed after so many milliseconds, if it takes that long. */
export async function breakSweep(data: string, after: number): Promise<void> {
  const process = spawnSweep(data);
  const timer = setTimeout(() => process.kill("SIGKILL"), after);
  const { success, signal, stderr } = await process.output();
  clearTimeout(timer);
  if (success || signal === "SIGKILL") return;
  throw new Error(`The sweep failed: ${new TextDecoder().decode(stderr)}`);
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

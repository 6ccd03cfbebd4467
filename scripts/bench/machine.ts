/** The machine in one line: processor, cores, memory, runtime. */
export async function machineLine(): Promise<string> {
  const gigabytes = Deno.systemMemoryInfo().total / 1e9;
  return [
    await processor(),
    `${navigator.hardwareConcurrency} cores`,
    `${gigabytes.toFixed(0)} GB memory`,
    `Deno ${Deno.version.deno}`,
  ].join(", ");
}

/** The most memory that a process had at once, in 10^6 bytes; what it has now where that is not recorded. */
export async function peakMemory(pid: number): Promise<number> {
  const status = await readIfThere(`/proc/${pid}/status`);
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status ?? "")?.[1];
  const kibibytes = peak ?? await residentNow(pid);
  return Number(kibibytes) * 1024 / 1e6;
}

async function residentNow(pid: number): Promise<string> {
  const ps = new Deno.Command("ps", { args: ["-o", "rss=", "-p", String(pid)] });
  return new TextDecoder().decode((await ps.output()).stdout).trim();
}

async function processor(): Promise<string> {
  const text = await readIfThere("/proc/cpuinfo");
  return /^model name\s*:\s*(.+)$/m.exec(text ?? "")?.[1] ?? `${Deno.build.os} ${Deno.build.arch}`;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

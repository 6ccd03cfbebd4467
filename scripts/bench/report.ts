import type { Result } from "./experiment.ts";

const NAME_WIDTH = 52;
const WIDTH = 10;

/** The head of the table. */
export function header(against: string | undefined): string {
  const columns = ["median", "min", "max", "limit", "ratio", "required"];
  const cells = columns.map((column) => column.padStart(WIDTH));
  const more = against === undefined ? "" : `  ${`at ${against}`.padStart(WIDTH)}    change`;
  return `${"row".padEnd(NAME_WIDTH)}${"unit".padEnd(WIDTH)}${cells.join("")}  holds${more}`;
}

/** A line of the table. */
export function rowLine(result: Result): string {
  const { row, median, min, max, limit, ratio, holds, against } = result;
  const sign = row.bound === "at least" ? "≥" : "≤";
  const cells = [
    ...[median, min, max, limit].map(rounded),
    ratio.toFixed(2),
    `${sign} ${row.required}`,
  ].map((cell) => cell.padStart(WIDTH));
  const change = against === undefined
    ? ""
    : `  ${rounded(against).padStart(WIDTH)}${percent(median / against - 1).padStart(WIDTH)}`;
  const holding = (holds ? "yes" : "NO").padStart(5);
  return `${row.name.padEnd(NAME_WIDTH)}${row.unit.padEnd(WIDTH)}${
    cells.join("")
  }  ${holding}${change}`;
}

/** The names of the rows that do not hold. */
export function brokenRows(results: readonly Result[]): string[] {
  return results.filter(({ holds }) => !holds).map(({ row }) => row.name);
}

/** All figures, for programs. */
export function toJson(machine: string, results: readonly Result[]): string {
  const rows = results.map(({ row, median, min, max, limit, ratio, holds, against }) => ({
    name: row.name,
    unit: row.unit,
    median,
    min,
    max,
    limit,
    ratio,
    bound: row.bound,
    required: row.required,
    holds,
    ...(against === undefined ? {} : { against }),
  }));
  return `${JSON.stringify({ machine, rows }, null, 2)}\n`;
}

/** Three digits that count, or all before the point. */
export function rounded(figure: number): string {
  if (figure >= 100) return figure.toFixed(0);
  return figure.toFixed(figure >= 10 ? 1 : 2);
}

function percent(change: number): string {
  return `${change < 0 ? "" : "+"}${(change * 100).toFixed(0)} %`;
}

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

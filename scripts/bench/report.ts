import type { Result } from "./experiment.ts";

const WIDTHS = [52, 9, 30, 9, 7, 8, 7];

/** The head of the table. */
export function header(against: string | undefined): string {
  const columns = ["row", "unit", "median (min to max)", "limit", "ratio", "goal", "holds"];
  return lineOf(against === undefined ? columns : [...columns, `  at ${against}, change`]);
}

/** A line of the table. */
export function rowLine({ row, median, min, max, limit, ratio, holds, against }: Result): string {
  const cells = [
    row.name,
    row.unit,
    `${rounded(median)} (${rounded(min)} to ${rounded(max)})`,
    rounded(limit),
    ratio.toFixed(2),
    `${row.bound === "at least" ? "≥" : "≤"} ${row.required}`,
    holds ? "yes" : "NO",
  ];
  if (against === undefined) return lineOf(cells);
  const change = Math.round((median / against - 1) * 100);
  return lineOf([...cells, `  ${rounded(against)}, ${change < 0 ? "" : "+"}${change} %`]);
}

function lineOf([name = "", ...cells]: string[]): string {
  const [first = 0, ...widths] = WIDTHS;
  const padded = cells.map((cell, i) => cell.padStart(widths[i] ?? 0));
  return `${name.padEnd(first)}${padded.join("")}`.trimEnd();
}

/** Three digits that count, or all before the point. */
export function rounded(figure: number): string {
  if (figure >= 100) return Math.round(figure).toLocaleString("en");
  return figure.toFixed(figure >= 10 ? 1 : 2);
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

async function processor(): Promise<string> {
  const text = Deno.build.os === "linux" ? await Deno.readTextFile("/proc/cpuinfo") : "";
  return /^model name\s*:\s*(.+)$/m.exec(text)?.[1] ?? `${Deno.build.os} ${Deno.build.arch}`;
}

import type { Result } from "./statistics.ts";

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
function rounded(figure: number): string {
  if (figure >= 100) return figure.toFixed(0);
  return figure.toFixed(figure >= 10 ? 1 : 2);
}

function percent(change: number): string {
  return `${change < 0 ? "" : "+"}${(change * 100).toFixed(0)} %`;
}

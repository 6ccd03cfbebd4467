import { percentile } from "../experiment.ts";
import { rounded } from "../report.ts";
import { type PeerRow, SYNC_ROWS } from "./rows.ts";
import type { Figures } from "./rounds.ts";
import type { SyncsPerWrite } from "./syncs.ts";

/** The server that the others are compared with. */
export const OWN = "kvdrive";

/** What was measured of a server. */
export interface Cell {
  server: string;
  median: number;
  min: number;
  max: number;
  /** kvdrive's median divided by this one; for other servers than kvdrive, and where more is better. */
  ratio?: number;
}

/** A line of the report. */
export interface PeerResult {
  row: PeerRow;
  cells: readonly Cell[];
}

/** What was measured where. */
export interface PeersReport {
  machine: string;
  /** Names and versions of the servers. */
  versions: readonly string[];
  /** What was left out, and why. */
  missing: readonly string[];
  rounds: number;
  results: readonly PeerResult[];
  /** Names of the calls for each upload, by server, in the order of `SYNC_ROWS`. */
  syncs: ReadonlyMap<string, readonly SyncsPerWrite[]>;
}

/** Compares the medians of a row, in the order in which the servers are named. */
export function resultsOf(
  rows: readonly PeerRow[],
  figures: Figures,
  servers: readonly string[],
): PeerResult[] {
  return rows.flatMap((row) => {
    const ofRow = figures.get(row.name);
    if (ofRow === undefined) return [];
    const own = medianOf(ofRow.get(OWN));
    const cells = servers.flatMap((server): Cell[] => {
      const values = ofRow.get(server) ?? [];
      const median = medianOf(values);
      if (median === undefined) return [];
      const cell = { server, median, min: Math.min(...values), max: Math.max(...values) };
      const isCompared = server !== OWN && own !== undefined && row.unit !== "per write";
      return [isCompared ? { ...cell, ratio: own / median } : cell];
    });
    return [{ row, cells }];
  });
}

function medianOf(values: readonly number[] = []): number | undefined {
  return values.length === 0 ? undefined : percentile(values, 50);
}

const NAME_WIDTH = 45;
const UNIT_WIDTH = 16;
const WIDTH = 14;

/** The table for a terminal: the medians, and below them the spread and the ratios. */
export function textTable(results: readonly PeerResult[], servers: readonly string[]): string {
  const columns = columnsOf(results, servers);
  const line = (name: string, unit: string, cells: readonly string[]): string => {
    const text = cells.map((cell) => cell.padStart(WIDTH)).join("");
    return `${name.padEnd(NAME_WIDTH)}${unit.padEnd(UNIT_WIDTH)}${text}`.trimEnd();
  };
  const lines = [line("row", "unit", columns)];
  for (const { row, cells } of results) {
    const show = (part: (cell: Cell) => string): string[] =>
      columns.map((column) => {
        const cell = cells.find(({ server }) => server === column);
        return cell === undefined ? "" : part(cell);
      });
    lines.push(line(row.name, row.unit, show(({ median }) => rounded(median))));
    if (cells.some(({ min, max }) => min !== max)) lines.push(line("", "min–max", show(spread)));
    if (!cells.some(({ ratio }) => ratio !== undefined)) continue;
    lines.push(line("", "kvdrive / peer", show(({ ratio }) => ratio?.toFixed(2) ?? "")));
  }
  return `${lines.join("\n")}\n`;
}

/** The table for the documentation. */
export function markdownTable(results: readonly PeerResult[], servers: readonly string[]): string {
  const columns = columnsOf(results, servers);
  const lines = [["work", ...columns], ["---", ...columns.map(() => "---:")]];
  for (const { row, cells } of results) {
    lines.push([
      `${row.name}, ${row.unit}`,
      ...columns.map((column) => {
        const cell = cells.find(({ server }) => server === column);
        return cell === undefined ? "" : markdownCell(cell);
      }),
    ]);
  }
  return lines.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

function markdownCell(cell: Cell): string {
  const { median, min, max, ratio } = cell;
  const range = min === max ? "" : ` (${spread(cell)})`;
  return `${rounded(median)}${range}${ratio === undefined ? "" : `, ${ratio.toFixed(2)}×`}`;
}

function spread({ min, max }: Cell): string {
  return `${rounded(min)}–${rounded(max)}`;
}

/** The servers that have a figure in a row. */
function columnsOf(results: readonly PeerResult[], servers: readonly string[]): string[] {
  const found = new Set(results.flatMap(({ cells }) => cells.map(({ server }) => server)));
  return servers.filter((server) => found.has(server));
}

/** The calls behind the figures of `SYNC_ROWS`, one line for each server. */
export function syncLines(syncs: PeersReport["syncs"]): string[] {
  return [...syncs].map(([server, found]) => {
    const parts = found.map((syncs, index) => {
      const { connections, isS3 } = SYNC_ROWS[index] ?? {};
      const calls = Object.entries(syncs).map(([name, count]) => `${rounded(count)} ${name}`);
      const label = `${isS3 ? "S3, " : ""}${connections}`;
      return `${label}: ${calls.length === 0 ? "none" : calls.join(", ")}`;
    });
    return `${server}: ${parts.join("; ")}`;
  });
}

/** All calls for each upload. */
export function sumOf(syncs: SyncsPerWrite): number {
  return Object.values(syncs).reduce((sum, count) => sum + count, 0);
}

/** All figures, for programs. */
export function toJson({ results, syncs, ...rest }: PeersReport): string {
  const rows = results.map(({ row, cells }) => ({ name: row.name, unit: row.unit, cells }));
  const calls = Object.fromEntries([...syncs].map(([server, found]) => [
    server,
    found.map((syncs, index) => {
      const { connections, isS3 } = SYNC_ROWS[index] ?? {};
      return { connections, ...(isS3 ? { s3: true } : {}), ...syncs };
    }),
  ]));
  return `${JSON.stringify({ ...rest, rows, syncs: calls }, null, 2)}\n`;
}

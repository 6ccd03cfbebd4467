import { assertEquals, assertMatch } from "@std/assert";
import { markdownTable, resultsOf, sumOf, syncLines, textTable, toJson } from "./report.ts";
import type { PeerRow } from "./rows.ts";
import type { Figures } from "./rounds.ts";

const SERVERS = ["kvdrive", "MinIO", "tusd", "nginx"];
const ROWS: readonly PeerRow[] = [
  { name: "GET", unit: "req/s" },
  { name: "PUT", unit: "MB/s" },
  { name: "syncs", unit: "per write" },
  { name: "not measured", unit: "req/s" },
];
const FIGURES: Figures = new Map([
  ["syncs", new Map([["kvdrive", [0.25]], ["MinIO", [1]]])],
  ["GET", new Map([["nginx", [4000]], ["MinIO", [90, 110, 100]], ["kvdrive", [210, 190, 200]]])],
  ["PUT", new Map([["MinIO", [40]]])],
]);
const RESULTS = resultsOf(ROWS, FIGURES, SERVERS);

Deno.test("resultsOf() compares the medians with kvdrive's, in the order of rows and servers", () => {
  assertEquals(RESULTS.map(({ row }) => row.name), ["GET", "PUT", "syncs"]);
  assertEquals(RESULTS[0]?.cells, [
    { server: "kvdrive", median: 200, min: 190, max: 210 },
    { server: "MinIO", median: 100, min: 90, max: 110, ratio: 2 },
    { server: "nginx", median: 4000, min: 4000, max: 4000, ratio: 0.05 },
  ]);
});

Deno.test("resultsOf() has no ratio without a figure of kvdrive, nor of syncs", () => {
  assertEquals(RESULTS[1]?.cells, [{ server: "MinIO", median: 40, min: 40, max: 40 }]);
  assertEquals(RESULTS[2]?.cells.map(({ ratio }) => ratio), [undefined, undefined]);
});

Deno.test("textTable() shows medians, spread and ratios, and leaves cells empty", () => {
  const lines = textTable(RESULTS, SERVERS).split("\n");
  assertMatch(lines[0] ?? "", /^row +unit +kvdrive +MinIO +nginx$/);
  assertMatch(lines[1] ?? "", /^GET +req\/s +200 +100 +4000$/);
  assertMatch(lines[2] ?? "", /^ +min–max +190–210 +90\.0–110 +4000–4000$/);
  assertMatch(lines[3] ?? "", /^ +kvdrive \/ peer +2\.00 +0\.05$/);
  assertMatch(lines[4] ?? "", /^PUT +MB\/s +40\.0$/);
  assertMatch(lines[5] ?? "", /^syncs +per write +0\.25 +1\.00$/);
  assertEquals(lines.slice(6), [""]);
  const widths = [lines[0], lines[1], lines[3]].map((line) => line?.length);
  assertEquals(new Set(widths).size, 1);
});

Deno.test("markdownTable() has a column for each server that was measured", () => {
  assertEquals(
    markdownTable(RESULTS, SERVERS),
    `| work | kvdrive | MinIO | nginx |
| --- | ---: | ---: | ---: |
| GET, req/s | 200 (190–210) | 100 (90.0–110), 2.00× | 4000, 0.05× |
| PUT, MB/s |  | 40.0 |  |
| syncs, per write | 0.25 | 1.00 |  |
`,
  );
});

Deno.test("syncLines() names the calls of each server", () => {
  const syncs = new Map([["a", [{ fsync: 1, fdatasync: 0.5 }, {}]]]);
  assertEquals(syncLines(syncs), ["a: 1: 1.00 fsync, 0.50 fdatasync; 64: none"]);
  assertEquals(sumOf({ fsync: 1, fdatasync: 0.5 }), 1.5);
});

Deno.test("toJson() has the machine and all figures", () => {
  const report = { machine: "m", versions: ["kvdrive 1.0"], missing: ["tusd"], rounds: 3 };
  const syncs = new Map([["a", [{ fsync: 1 }, {}]]]);
  const json = JSON.parse(toJson({ ...report, results: RESULTS.slice(2), syncs }));
  assertEquals(json, {
    ...report,
    rows: [{
      name: "syncs",
      unit: "per write",
      cells: [
        { server: "kvdrive", median: 0.25, min: 0.25, max: 0.25 },
        { server: "MinIO", median: 1, min: 1, max: 1 },
      ],
    }],
    syncs: { a: [{ connections: 1, fsync: 1 }, { connections: 64 }] },
  });
});

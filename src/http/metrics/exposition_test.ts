import { assertEquals } from "@std/assert";
import {
  counter,
  gauge,
  Histogram,
  histogram,
  mergeMetrics,
  metricsText,
  type MetricTable,
  readMetrics,
  sum,
} from "./exposition.ts";

function textOf(table: MetricTable<void>): string {
  return metricsText(readMetrics(table, undefined));
}

Deno.test("metrics are written with help, type and escaped labels", () => {
  const text = textOf({
    a_total: counter(
      "All\nof it.",
      () => [[{ route: 'a"b\\c\nd', status: "200" }, 3], [{}, 0.5]],
    ),
    b: gauge("Now.", () => 1e21),
  });
  assertEquals(
    text,
    '# HELP a_total All\\nof it.\n# TYPE a_total counter\na_total{route="a\\"b\\\\c\\nd",status="200"} 3\na_total 0.5\n' +
      "# HELP b Now.\n# TYPE b gauge\nb 1e+21\n",
  );
});

Deno.test("a metric that does not exist is left out, one without samples is announced", () => {
  const text = textOf({ a: gauge("A.", () => undefined), b: gauge("B.", () => []) });
  assertEquals(text, "# HELP b B.\n# TYPE b gauge\n");
});

Deno.test("a histogram counts the values up to each bound, and all values", () => {
  const values = new Histogram([1, 2.5]);
  for (const value of [0, 1, 1.5, 2.5, 2.6, 100]) values.observe(value);
  const text = textOf({ h: histogram("H.", () => [[{ of: "x" }, values]]) });
  assertEquals(text.split("\n").slice(2, -1), [
    'h_bucket{of="x",le="1"} 2',
    'h_bucket{of="x",le="2.5"} 4',
    'h_bucket{of="x",le="+Inf"} 6',
    'h_sum{of="x"} 107.6',
    'h_count{of="x"} 6',
  ]);
});

Deno.test("metrics of several processes are added up, except for values that are the same for all", () => {
  const of = (value: number, x: string) => {
    const values = new Histogram([1]);
    values.observe(value);
    return readMetrics({
      a_total: counter("A.", () => [[{ of: x }, value]]),
      used: sum("Used.", () => value),
      start: gauge("Start.", () => value),
      h: histogram("H.", () => values),
    }, undefined);
  };
  const extra = readMetrics({
    leader: gauge("L.", () => 7),
    a_total: counter("A.", () => [[{ of: "x" }, 5]]),
  }, undefined);
  const others = [JSON.parse(JSON.stringify(of(1, "y"))), extra];
  const text = metricsText(others.reduce(mergeMetrics, of(2, "x")));
  assertEquals(text.split("\n").filter((line) => line !== "" && !line.startsWith("#")), [
    'a_total{of="x"} 7',
    'a_total{of="y"} 1',
    "used 3",
    "start 1",
    'h_bucket{le="1"} 1',
    'h_bucket{le="+Inf"} 2',
    "h_sum 3",
    "h_count 2",
    "leader 7",
  ]);
});

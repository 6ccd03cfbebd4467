import { assertEquals } from "@std/assert";
import { Exposition, Histogram, only } from "./exposition.ts";

Deno.test("metrics are written with help, type and escaped labels", () => {
  const to = new Exposition();
  to.counter("a_total", "All\nof it.", [[{ route: 'a"b\\c\nd', status: "200" }, 3], [{}, 0.5]]);
  to.gauge("b", "Now.", only(1e21));
  assertEquals(
    to.toString(),
    '# HELP a_total All\\nof it.\n# TYPE a_total counter\na_total{route="a\\"b\\\\c\\nd",status="200"} 3\na_total 0.5\n' +
      "# HELP b Now.\n# TYPE b gauge\nb 1e+21\n",
  );
});

Deno.test("a histogram counts the values up to each bound, and all values", () => {
  const histogram = new Histogram([1, 2.5]);
  for (const value of [0, 1, 1.5, 2.5, 2.6, 100]) histogram.observe(value);
  const to = new Exposition();
  to.histogram("h", "H.", [[{ of: "x" }, histogram]]);
  assertEquals(to.toString().split("\n").slice(2, -1), [
    'h_bucket{of="x",le="1"} 2',
    'h_bucket{of="x",le="2.5"} 4',
    'h_bucket{of="x",le="+Inf"} 6',
    'h_sum{of="x"} 107.6',
    'h_count{of="x"} 6',
  ]);
});

Deno.test("metrics of several processes are added up, except for values that are the same for all", () => {
  const page = (value: number, labels: Record<string, string>) => {
    const histogram = new Histogram([1]);
    histogram.observe(value);
    const to = new Exposition();
    to.counter("a_total", "A.", [[labels, value]]);
    to.gauge("used", "Used.", only(value), { isSum: true });
    to.gauge("start", "Start.", only(value));
    to.histogram("h", "H.", [[{}, histogram]]);
    return to;
  };
  const to = page(2, { of: "x" });
  to.merge(JSON.parse(JSON.stringify(page(1, { of: "y" }).families)));
  const extra = new Exposition();
  extra.gauge("leader", "L.", only(7));
  extra.counter("a_total", "A.", [[{ of: "x" }, 5]]);
  to.merge(extra.families);
  assertEquals(to.toString().split("\n").filter((line) => line !== "" && !line.startsWith("#")), [
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

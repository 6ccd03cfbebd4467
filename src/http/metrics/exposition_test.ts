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

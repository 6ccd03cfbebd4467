import { assertEquals } from "@std/assert";
import { filesOf, parseBenchOptions } from "./options.ts";

const DEFAULTS = {
  json: undefined,
  only: undefined,
  against: undefined,
  load: undefined,
  check: false,
  full: false,
  help: false,
};

Deno.test("parseBenchOptions() needs no arguments", () => {
  assertEquals(parseBenchOptions([]), DEFAULTS);
});

Deno.test("parseBenchOptions() reads every option", () => {
  const args = "--json f --only list --against HEAD~1 --load deno --check --full -h".split(" ");
  assertEquals(parseBenchOptions(args), {
    json: "f",
    only: "list",
    against: "HEAD~1",
    load: "deno",
    check: true,
    full: true,
    help: true,
  });
});

Deno.test("parseBenchOptions() reports the problem", () => {
  const isProblem = (args: string[]) => typeof parseBenchOptions(args) === "string";
  assertEquals(isProblem(["--fast"]), true);
  assertEquals(isProblem(["list"]), true);
  assertEquals(isProblem(["--json"]), true);
  assertEquals(isProblem(["--load", "ab"]), true);
});

Deno.test("filesOf() is larger with --full", () => {
  assertEquals(filesOf({ ...DEFAULTS }), 20_000);
  assertEquals(filesOf({ ...DEFAULTS, full: true }), 10_000_000);
});

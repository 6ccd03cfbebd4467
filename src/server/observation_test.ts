import { assertEquals, assertMatch } from "@std/assert";
import type { ServerLoad } from "../api/endpoint.ts";
import { HOUR } from "../rules/units.ts";
import { processWarnings, sumOfLoads } from "./observation.ts";

function load(own: Partial<ServerLoad>): ServerLoad {
  return {
    running: { upload: 1, download: 2, gate: 3, other: 4 },
    memory: { resident: 10, heap: 5 },
    started: 1000,
    processes: 1,
    warnings: [],
    ...own,
  };
}

Deno.test("The load of a server is the sum over its processes, with what only one of them knows", () => {
  const backup = { every: 1, newest: 2, failures: 0, problem: undefined };
  const loads = [load({ started: 2000 }), load({ backup, warnings: ["Full"] }), load({})];
  assertEquals(sumOfLoads(loads), {
    running: { upload: 3, download: 6, gate: 9, other: 12 },
    memory: { resident: 30, heap: 15 },
    started: 1000,
    processes: 3,
    backup,
    warnings: ["Full"],
  });
  assertEquals(sumOfLoads([load({})]), load({}));
});

Deno.test("A process that is not running, or has ended within the last hour, is a warning", () => {
  const lastEnd = Date.now();
  const state = { running: 2, ended: 0, lastEnd: undefined };
  assertEquals(processWarnings(undefined, 1), []);
  assertEquals(processWarnings(state, 2), []);
  const [missing, ended, ...others] = processWarnings({ running: 1, ended: 3, lastEnd }, 2);
  assertMatch(missing ?? "", /^Only 1 of 2 processes/);
  assertMatch(ended ?? "", /ended unexpectedly 3 times/);
  assertEquals(others, []);
  assertEquals(processWarnings({ running: 2, ended: 1, lastEnd }, 2, lastEnd + HOUR), []);
});

import { assert, assertEquals, assertThrows } from "@std/assert";
import { parseOptions } from "../../options/test_support.ts";
import { SERVE_OPTIONS } from "../../options/configuration.ts";
import { readServeOptions, type ServeOptions } from "../../options/serve_options.ts";
import { MIB } from "../../../rules/units.ts";
import { UsageError } from "../../terminal/output.ts";
import { createMemoryBudget } from "../../../server/server.ts";
import { LONE_PROCESS, partOf, type ServerProcess, sharingOf } from "./worker.ts";

const PORTS = { server: 8000, gate: 8001 };

function options(...args: string[]): ServeOptions {
  return readServeOptions(parseOptions(SERVE_OPTIONS, args), {});
}

function memoryOf(of: ServeOptions, processes: number): number {
  const uses = createMemoryBudget(of, processes).uses();
  return uses.reduce((sum, { budget }) => sum + budget, 0);
}

Deno.test("The parts of all processes are never more than the whole", () => {
  for (const count of [1, 2, 3, 7, 64]) {
    const whole = options("--max-uploads", "100", "--memory-budget", "5000000001");
    const { maxUploads } = partOf(whole, { ...LONE_PROCESS, count });
    assert(maxUploads * count <= 100 && maxUploads > 100 / count - 1, `${count}`);
    const memory = memoryOf(whole, count) * count;
    assert(memory <= 5_000_000_001 && memory > 4_990_000_000, `${count}: ${memory}`);
    assert(memoryOf(options(), count) * count <= count * 512 * MIB, `${count}`);
  }
});

Deno.test("All processes listen on the ports that the first one has opened", () => {
  const whole = options("--port", "0", "--apps-port", "auto", "--s3-port", "0");
  const first: ServerProcess = { ...LONE_PROCESS, count: 2 };
  assertEquals(partOf(whole, first).port, 0);
  const { port, appsPort, s3Port } = partOf(whole, { ...first, index: 1, ports: PORTS });
  assertEquals([port, appsPort, s3Port], [8000, 8001, "off"]);
  const { appsPort: closed } = partOf(options(), { ...first, ports: { server: 8000 } });
  assertEquals(closed, "off");
  const sharings = [LONE_PROCESS, first, { ...first, ports: PORTS }].map(sharingOf);
  assertEquals(sharings, [undefined, "first", "further"]);
});

Deno.test("Limits that processes divide must be enough for all of them", () => {
  const read = (...args: string[]) => () => options("--processes", "4", ...args);
  assertThrows(read("--max-uploads", "3"), UsageError, "give at least 4");
  assertThrows(read("--memory-budget", "255MiB"), UsageError, "give at least 256MiB");
  const { maxUploads } = read("--max-uploads", "4", "--memory-budget", "256MiB")();
  assertEquals(maxUploads, 4);
});

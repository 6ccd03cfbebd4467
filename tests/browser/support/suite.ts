import { assertNotMatch } from "@std/assert";
import type { Browser } from "playwright-core";
import { Gate } from "../../support/gate/gate.ts";
import type { ServerOptions } from "../../support/server.ts";
import { startChromium } from "./chromium.ts";
import { Fixture } from "./fixture.ts";

export type TestBody = (fixture: Fixture) => Promise<void>;
export type AddTest = (name: string, run: TestBody) => void;

export interface SuiteOptions extends ServerOptions {
  /** Skips the suite. */
  ignore?: boolean;
}

/**
 * Registers a test whose steps share a server and a browser. Each step has its own tab and project.
 *
 * @param name Name of the whole test.
 * @returns A function that adds a step; call it while the module is loaded.
 */
export function suite(name: string, options: SuiteOptions = {}): AddTest {
  const tests: [string, TestBody][] = [];
  Deno.test({
    name,
    ignore: options.ignore ?? false,
    // Playwright keeps timers and pipes until the browser has exited.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn(t) {
      await using gate = await Gate.start(options);
      await using browser = await startChromium();
      for (const [name, run] of tests) {
        await t.step(name, () => runTest(browser, gate, name, run));
      }
      await t.step("The server printed no stack trace", () => {
        assertNotMatch(gate.server.text, /^\s+at .*:\d+:\d+/m);
      });
    },
  });
  return (name, run) => {
    tests.push([name, run]);
  };
}

async function runTest(browser: Browser, gate: Gate, name: string, run: TestBody): Promise<void> {
  await using fixture = await Fixture.open(browser, gate);
  try {
    await run(fixture);
    await fixture.observer.assertNoProblems();
  } catch (cause) {
    await fixture.saveScreenshots(name);
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${message}\n${fixture.observer.text}`, { cause });
  }
}

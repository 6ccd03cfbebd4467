import { assertNotMatch } from "@std/assert";
import { Drive } from "./drive.ts";
import { type ServerOptions, TestServer } from "./server.ts";

export type Step = (drive: Drive) => Promise<void>;
export type AddStep = (sentence: string, run: Step) => void;

/**
 * A test whose steps share one server process, and its twin, each with a drive of its own. The steps are added
 * by the function that this gives back, while the module is being loaded.
 */
export function suite(about: string, options: ServerOptions = {}): AddStep {
  const steps: [string, Step][] = [];
  Deno.test({
    name: about,
    sanitizeOps: true,
    sanitizeResources: true,
    async fn(t) {
      const isPlain = options.args === undefined && options.env === undefined;
      await using server = await TestServer.start({ twin: isPlain, ...options });
      for (const [index, [sentence, run]] of steps.entries()) {
        await t.step(sentence, () => run(new Drive(server, `drive-${index}`)));
      }
      await t.step("The server printed no stack trace meanwhile.", () => {
        assertNotMatch(server.text, /^\s+at .*:\d+:\d+/m);
      });
    },
  });
  return (sentence, run) => {
    steps.push([sentence, run]);
  };
}

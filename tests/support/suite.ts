import { assert, assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import type { Answer } from "./answer.ts";
import { Drive, type SendOptions } from "./drive.ts";
import { PROJECT_KEY, type ServerOptions, TestServer } from "./server.ts";

export type Step = (drive: Drive) => Promise<void>;
type AddStep = (sentence: string, run: Step) => void;

/**
 * A test whose steps share one server process, and its twin, each with a drive of its own. The steps are added
 * by the returned function while the module is being loaded.
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
      await t.step("The server printed no stack trace.", () => {
        assertNotMatch(server.text, /^\s+at .*:\d+:\d+/m);
      });
    },
  });
  return (sentence, run) => {
    steps.push([sentence, run]);
  };
}

/** One request and what its answer must be. The path is relative to the drive. */
export interface Case extends SendOptions {
  name: string;
  method: string;
  path: string;
  status: number;
  /** The error code. */
  code?: string;
  contains?: readonly string[];
  notContains?: readonly string[];
}

/** "500 only for our own defects, with no inner detail": what no answer may ever carry. */
export const LEAKS: readonly string[] = [
  "at file:",
  "file://",
  ".ts:",
  "/src/",
  "node_modules",
  "TypeError",
  "RangeError",
  "SyntaxError",
  "URIError",
  "SQL",
  "sqlite",
  "database",
  "Deno.",
  "[object ",
  "undefined",
  PROJECT_KEY,
];

/** Adds one step a case; a refused request must also leave the drive as it was. */
export function addCases(
  test: AddStep,
  cases: readonly Case[],
  prepare: (drive: Drive) => Promise<unknown> = () => Promise.resolve(),
): void {
  for (const one of cases) {
    test(one.name, async (drive) => {
      await prepare(drive);
      if (one.status < 400) await runCase(drive, one);
      else await drive.unchangedBy(() => runCase(drive, one));
    });
  }
}

export async function runCase(drive: Drive, one: Case): Promise<Answer> {
  const { name: _name, method, path, status, code, contains, notContains, ...options } = one;
  const answer = (await drive.send(method, path, options)).expect(status);
  if (status >= 400 && method !== "HEAD") assertErrorAnswer(answer);
  if (code !== undefined) assertEquals(answer.code, code);
  const text = answer.text;
  for (const part of contains ?? []) assertStringIncludes(text, part);
  for (const part of notContains ?? []) assert(!text.includes(part), `${part} is in ${text}`);
  return answer;
}

/** `{"errors": ["one clear sentence", …]}`, with nothing of the inside of the server. */
export function assertErrorAnswer(answer: Answer): void {
  const text = answer.errors.join("\n");
  for (const leak of LEAKS) assert(!text.includes(leak), `${leak} is in ${text}`);
}

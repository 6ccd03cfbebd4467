import { assert, assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import type { Answer } from "./answer.ts";
import { ADMINISTERED } from "./admin.ts";
import { Drive, type SendOptions } from "./drive.ts";
import { assertChecksOf } from "./openapi/watch.ts";
import { denokvProgram } from "./store/denokv.ts";
import { PROJECT_KEY, type ServerOptions, TestServer } from "./server.ts";

export type Step = (drive: Drive) => Promise<void>;
type AddStep = (sentence: string, run: Step) => void;

export interface SuiteOptions extends ServerOptions {
  /** Whether the suite has a server of its own, as it configures or observes more than its own drives and projects. */
  alone?: boolean;
}

/** Numbers the drives of the steps, so that suites on one server have different ones. */
let drives = 0;

/**
 * A test whose steps share one server process, and its twin, each with a drive of its own. The steps are added
 * by the returned function while the module is being loaded. Suites that need no options but an administrator share a
 * server.
 */
export function suite(about: string, options: SuiteOptions = {}): AddStep {
  const { alone = false, twin = options.env === undefined && options.args === undefined, ...rest } =
    options;
  const isShared = !alone && Object.keys({ ...ADMINISTERED, ...rest }).length === 1 &&
    (rest.env === undefined || rest.env === ADMINISTERED.env);
  const steps: [string, Step][] = [];
  Deno.test({
    name: about,
    // The server that suites share is opened by the first.
    sanitizeResources: !isShared,
    async fn(t) {
      await using own = isShared ? undefined : await TestServer.start({ ...rest, twin });
      const server = own ?? await sharedServer(twin);
      for (const [sentence, run] of steps) {
        await t.step(sentence, () => run(new Drive(server, `drive-${drives++}`)));
      }
      await t.step("The server printed no stack trace.", () => {
        assertNotMatch(server.text, /^\s+at .*:\d+:\d+/m);
      });
      if (own === undefined) assertChecksOf(server.origin);
    },
  });
  return (sentence, run) => {
    steps.push([sentence, run]);
  };
}

/** The servers of the suites without options of their own. They end with the process of the tests. */
const shared = new Map<boolean, Promise<TestServer>>();

function sharedServer(twin: boolean): Promise<TestServer> {
  const hasTwin = twin && denokvProgram() !== undefined;
  const server = shared.get(hasTwin) ?? startShared(hasTwin);
  shared.set(hasTwin, server);
  return server;
}

async function startShared(twin: boolean): Promise<TestServer> {
  const server = await TestServer.start({ ...ADMINISTERED, twin });
  addEventListener("unload", () => server.endAtExit());
  return server;
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

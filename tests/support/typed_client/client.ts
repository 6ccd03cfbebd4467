import { assert, assertRejects } from "@std/assert";
import { connect, type ConnectOptions, type Drive, KvdriveError, type Project } from "./package.ts";
import { PROJECT_KEY, type TestServer } from "../server.ts";
import { suite, type SuiteOptions } from "../suite.ts";

/** Connects to the project of a test server. */
export function connectTo(server: TestServer, options: Partial<ConnectOptions> = {}): Project {
  return connect({ url: server.origin, key: PROJECT_KEY, ...options });
}

type Step = (drive: Drive, project: Project, server: TestServer) => Promise<void>;

/** A suite whose steps get the typed client. The returned function adds a step. */
export function clientSuite(
  about: string,
  options?: SuiteOptions,
): (sentence: string, run: Step) => void {
  const add = suite(about, options);
  return (sentence, run) =>
    add(sentence, async ({ name, server }) => {
      const project = connectTo(server);
      await run(project.drive(name), project, server);
    });
}

/** Returns the status and the code of an error of the client. */
export async function refused(call: () => Promise<unknown>): Promise<[number, string]> {
  const error = await assertRejects(call, KvdriveError);
  assert(error.message !== "");
  return [error.status, error.code];
}

/** Collects what is listed. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Names of all files of a drive. */
export async function namesIn(drive: Drive): Promise<string[]> {
  return (await all(drive.list())).map(({ name }) => name);
}

/** A `fetch` that counts requests, and answers or fails some of them in place of the server. */
export class Interceptor {
  /** "POST /v1/…/files" for each request, without the query. */
  readonly calls: string[] = [];
  /** Those that the server answered. */
  readonly answered: string[] = [];
  #intercept: (
    request: Request,
    call: string,
  ) => Promise<Response | undefined> | Response | undefined = () => undefined;

  /** @param intercept Returns an answer, or throws, in place of the server. */
  on(
    intercept: (
      request: Request,
      call: string,
    ) => Promise<Response | undefined> | Response | undefined,
  ): this {
    this.#intercept = intercept;
    return this;
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const [, , ...rest] = pathname.split("/").slice(1);
    const call = `${request.method} ${rest.slice(1).join("/")}`;
    this.calls.push(call);
    const own = await this.#intercept(request, call);
    if (own !== undefined) return own;
    const answer = await fetch(request);
    this.answered.push(call);
    return answer;
  };

  count(pattern: RegExp): number {
    return this.calls.filter((call) => pattern.test(call)).length;
  }
}

/** The answer of a server that has a problem for the moment. */
export function temporaryAnswer(status = 503): Response {
  const body = { errors: ["Wait a moment"], code: "store_unavailable" };
  return Response.json(body, { status, headers: { "Retry-After": "0" } });
}

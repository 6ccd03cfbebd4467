import { assert, assertEquals, assertMatch } from "@std/assert";
import { equals } from "@std/bytes/equals";
import { ClientWorkspace, RunningCommand, someBytes, waitUntil } from "../support/cli/client.ts";
import { broken, cutAfter, Proxy } from "../support/cli/proxy.ts";
import { Folder } from "../support/command.ts";
import { PROJECT_KEY, TestServer } from "../support/server.ts";
import { unusedPort } from "../support/processes/ports.ts";

const PART = 10 * 2 ** 20;

Deno.test("A temporary failure is retried after the time that the server requests.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  await desk.folder.write("a", "bytes");
  const statuses = [503, 429, 500, 408];
  const times: number[] = [];
  proxy.intercept = (_request, pass) => {
    times.push(performance.now());
    const status = statuses.shift();
    const headers: HeadersInit = status === 429 ? { "Retry-After": "2" } : {};
    return status === undefined ? pass() : new Response("busy", { status, headers });
  };
  const run = await desk.run(["put", "a", "d:a", "--retry-for", "60s"], { url: proxy.origin });
  // A server that has not been reached before is not waited for as long.
  assertEquals([run.code, times.length], [0, 5], run.stderr);
  assert((times[2] ?? 0) - (times[1] ?? 0) >= 1990, String(times));
  assertEquals(await desk.stored("d", "a"), new TextEncoder().encode("bytes"));
});

Deno.test("A permanent failure is not retried.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  await desk.folder.write("a", "bytes");
  for (const status of [400, 401, 403, 404, 413, 507]) {
    proxy.seen.length = 0;
    proxy.intercept = () => Response.json({ errors: [`Because of ${status}`] }, { status });
    const run = await desk.run(["put", "a", "d:a"], { url: proxy.origin });
    assertEquals([run.code, proxy.seen.length], [1, 1], run.stderr);
    assertMatch(run.stderr, new RegExp(`Because of ${status}`));
  }
});

Deno.test("A transfer over a connection that breaks repeatedly is resumed each time.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  const bytes = someBytes(3_000_000);
  await desk.store("d", "film", bytes);
  proxy.intercept = async (request, pass) => {
    const answer = await pass();
    return request.method === "GET" ? cutAfter(answer, 700_000, Promise.resolve()) : answer;
  };
  for (const target of ["film", "-"]) {
    proxy.seen.length = 0;
    const run = await desk.run(["get", "d:film", target, "--json"], { url: proxy.origin });
    assertEquals(run.code, 0, run.stderr);
    assertMatch(run.stderr, /^(kvdrive: The connection to [^\n]+ broke[^\n]*\n)+$/);
    const ranges = proxy.seen.flatMap(({ headers }) => headers.get("range") ?? []);
    assert(ranges.length >= 4, String(ranges));
    const starts = ranges.map((range) => Number(/\d+/.exec(range)?.[0]));
    assertEquals(starts, starts.toSorted((a, b) => a - b));
  }
  assert(equals(await Deno.readFile(desk.folder.at("film")), bytes));
});

Deno.test("An answer that is lost does not make a new file another one's.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  for (const size of [10, PART + 10]) {
    await desk.folder.write("a", someBytes(size));
    const lost = new Set<string>();
    proxy.intercept = async (request, pass) => {
      const answer = await pass();
      const isFirst = !lost.has(request.method) && request.method !== "HEAD";
      lost.add(request.method);
      if (!isFirst) return answer;
      await answer.body?.cancel();
      return broken();
    };
    const run = await desk.run(["put", "a", `d:${size}`, "--new"], { url: proxy.origin });
    assertEquals(run.code, 0, run.stderr);
    assert(equals(await desk.stored("d", `${size}`) ?? new Uint8Array(), someBytes(size)));
  }
});

Deno.test("A server that is not there is given up soon, and with the right advice.", async () => {
  await using desk = await ClientWorkspace.open();
  const run = await desk.run(["ls"], { url: `http://127.0.0.1:${unusedPort()}` });
  assertEquals(run.code, 1);
  assertMatch(
    run.stderr,
    /^kvdrive: Cannot reach http:[^\n]*refused[^\n]*Is the server running[^\n]*\n$/,
  );
});

Deno.test("If the server stays unreachable, the command fails and prints what is left to do.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  await desk.folder.write("film", someBytes(2 * PART));
  proxy.intercept = (request, pass) => request.url.includes("/parts?") ? broken() : pass();
  const args = ["put", "film", "d:film", "--retry-for", "2s"];
  const run = await desk.run(args, { url: proxy.origin });
  assertEquals(run.code, 1);
  assertMatch(run.stderr, /run the same command again to resume/);
});

/** A server that can be killed and started again, behind a proxy that stays. */
class Restartable implements AsyncDisposable {
  private constructor(readonly proxy: Proxy, private server: TestServer, readonly data: string) {}

  static async start(data: string): Promise<Restartable> {
    const server = await TestServer.start({ data, fixedPort: unusedPort() });
    return new Restartable(Proxy.start(server.origin), server, data);
  }

  get port(): number {
    return this.server.port;
  }

  async kill(): Promise<void> {
    await this.server.stop("SIGKILL");
  }

  /** On the same port and the same data. */
  async restart(): Promise<void> {
    this.server = await TestServer.start({ data: this.data, fixedPort: this.port });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
  }
}

Deno.test("Transfers survive a server that is killed and started again.", async () => {
  await using folder = await Folder.make();
  await using server = await Restartable.start(folder.at("data"));
  const bytes = someBytes(6 * PART + 1);
  await folder.write("film", bytes);
  const env = {
    KVDRIVE_URL: server.proxy.origin,
    KVDRIVE_KEY: PROJECT_KEY,
    XDG_STATE_HOME: folder.at("state"),
  };
  const held = Promise.withResolvers<void>();
  let waiting = 0;
  server.proxy.intercept = async (request, pass) => {
    const part = Number(new URL(request.url).searchParams.get("part"));
    if (part >= 3 || request.headers.get("range") !== null) {
      waiting++;
      await held.promise;
    }
    return await pass();
  };
  const putting = new RunningCommand(["put", "film", "d:film"], env, folder.path, undefined);
  await waitUntil("parts are on their way", () => waiting >= 2);
  await server.kill();
  held.resolve();
  // The requests get no answer and are retried.
  await waitUntil("a request is retried", () => server.proxy.count("POST", /\/parts\?/) >= 8);
  await server.restart();
  const put = await putting.finished();
  assertEquals(put.code, 0, put.stderr);
  assertMatch(put.stderr, /Retrying for up to 300 seconds\n/);

  server.proxy.seen.length = 0;
  const cut = Promise.withResolvers<void>();
  server.proxy.intercept = async (request, pass) => {
    const answer = await pass();
    const isFirst = request.method === "GET" && request.headers.get("range") === null;
    return isFirst ? cutAfter(answer, 20_000_000, cut.promise) : answer;
  };
  const getting = new RunningCommand(["get", "d:film", "back"], env, folder.path, undefined);
  await waitUntil("it is fetched", () => server.proxy.count("GET", /download/) >= 1);
  await server.kill();
  cut.resolve();
  await waitUntil("a request is retried", () => server.proxy.count("GET", /download/) >= 2);
  await server.restart();
  const got = await getting.finished();
  assertEquals(got.code, 0, got.stderr);
  assert(equals(await Deno.readFile(folder.at("back")), bytes));
});

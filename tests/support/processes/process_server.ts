import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMIN_TOKEN, ADMINISTERED } from "../admin.ts";
import { Folder } from "../command.ts";
import { type ServerOptions, TestServer } from "../server.ts";

/** How long anything may take that should happen soon, in milliseconds. */
const PATIENCE = 90_000;

/** A server of two processes, with a data folder that is removed with it. */
export class ProcessServer implements AsyncDisposable {
  private constructor(readonly server: TestServer, private readonly folder: Folder) {}

  static async start({ args = [], env = {}, ...more }: ServerOptions = {}): Promise<ProcessServer> {
    const folder = await Folder.makeOnDisk();
    try {
      const server = await TestServer.start({
        data: folder.path,
        args: ["--processes", "2", ...args],
        env: { ...ADMINISTERED.env, ...env },
        ...more,
      });
      return new ProcessServer(server, folder);
    } catch (error) {
      await folder[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The ids of its processes, the first one first, besides that which started them. */
  async pids(): Promise<number[]> {
    const { pid } = this.server.process;
    const text = await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`);
    return text.split(" ").filter((word) => word !== "").map(Number).sort((a, b) => a - b);
  }

  /** Waits until other processes have taken the place of some that have ended, and answer. */
  async renewed(before: readonly number[]): Promise<number[]> {
    return await eventually("two processes, one of them new", async () => {
      const pids = await this.pids();
      const isNew = pids.length === 2 && pids.join() !== before.join();
      return isNew && await this.figure("kvdrive_processes") === 2 ? pids : undefined;
    });
  }

  /** The value of a metric; 0 if there is none. */
  async figure(series: string): Promise<number> {
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    try {
      const answer = await fetch(`${this.server.origin}/metrics`, { headers, client });
      const text = await answer.text();
      assertEquals(answer.status, 200, text);
      const line = text.split("\n").find((one) => one.startsWith(`${series} `));
      return Number(line?.slice(series.length + 1) ?? 0);
    } finally {
      client.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pids = await this.pids().catch(() => []);
    await this.server[Symbol.asyncDispose]();
    await areGone(pids);
    await this.folder[Symbol.asyncDispose]();
  }
}

/** Looks until there is a result. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    assert(Date.now() < end, `It never came: ${what}`);
    await delay(50);
  }
}

/** Waits until processes have ended. */
export async function areGone(pids: readonly number[]): Promise<void> {
  await eventually(`the end of ${pids.join(", ")}`, async () => {
    const states = await Promise.all(pids.map(stateOf));
    return states.every((state) => state === undefined || state === "Z") ? true : undefined;
  });
}

/** The state of a process in a letter; `undefined` once it is gone. */
async function stateOf(pid: number): Promise<string | undefined> {
  try {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  } catch {
    return undefined;
  }
}

/** How many sockets a process has open. */
export async function socketsOf(pid: number): Promise<number> {
  let count = 0;
  for await (const { name } of Deno.readDir(`/proc/${pid}/fd`)) {
    const target = await Deno.readLink(`/proc/${pid}/fd/${name}`).catch(() => "");
    if (target.startsWith("socket:")) count++;
  }
  return count;
}

/** Sends a request on a connection of its own, which any process may get. */
export async function onNewConnection(url: string, init: RequestInit = {}): Promise<Response> {
  const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  try {
    const answer = await fetch(url, { ...init, client });
    return new Response(await answer.arrayBuffer(), answer);
  } finally {
    client.close();
  }
}

import { delay } from "@std/async/delay";
import { SECOND } from "../../rules/units.ts";
import { Database } from "../engine/database.ts";
import { CannotOpenStore } from "../engine/errors.ts";
import { Reachability, TimeoutExceeded } from "./reachability.ts";
import { remoteCommits } from "./remote_commits.ts";
import { guardReads, RemoteHandle } from "./remote_connection.ts";

const REMOTE_GROUPED_READS = 8;

/** How long a start waits for a remote store that is not there yet, and how often it tries. */
const REMOTE_OPEN_TIME = 15 * SECOND;

const REMOTE_OPEN_PAUSE = SECOND / 2;

/** Where a store that any number of processes share is reached. */
export interface RemoteStore {
  /** Of KV Connect. Without one it is the database that the platform attaches to the program, as Deno Deploy does. */
  url?: string | undefined;
  /** How long to wait for a store that is not there yet, in milliseconds. */
  patience?: number;
}

/**
 * Opens a store behind a network. The runtime takes the token from the variable `DENO_KV_ACCESS_TOKEN`.
 *
 * @throws {CannotOpenStore} if there is none in time, or at once where it refuses us.
 */
export async function openRemoteDatabase(
  { url, patience = REMOTE_OPEN_TIME }: RemoteStore,
): Promise<Database> {
  const handle = await openPatiently(url, performance.now() + patience);
  const reachability = new Reachability(() => handle.renew());
  guardReads(handle.first, () => handle.reach, reachability);
  return new Database(handle.first, handle.first, {
    commits: remoteCommits(() => handle.reach, reachability),
    reads: REMOTE_GROUPED_READS,
    onClose: () => {
      reachability.close();
      handle.close();
    },
  });
}

async function openPatiently(url: string | undefined, until: number): Promise<RemoteHandle> {
  while (true) {
    try {
      return await RemoteHandle.open(url);
    } catch (error) {
      if (performance.now() >= until || !mayCome(error)) throw cannotOpen(url, error);
      await delay(REMOTE_OPEN_PAUSE);
    }
  }
}

/** Whether it may be that the store is only not there yet. */
function mayCome(error: unknown): boolean {
  return error instanceof TimeoutExceeded ||
    (error instanceof Error && /failed to connect|status 5\d\d|status=5\d\d/.test(error.message));
}

function cannotOpen(url: string | undefined, error: unknown): CannotOpenStore {
  const where = url === undefined ? "that is attached to this program" : `at ${withoutQuery(url)}`;
  return new CannotOpenStore(`Cannot open the store ${where}: ${reasonOf(error)}`, {
    cause: error,
  });
}

/** A query may have a secret in it. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, "");
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/401|invalid access token/i.test(message)) {
    return "it refuses the access token in DENO_KV_ACCESS_TOKEN";
  }
  if (message.startsWith("Missing DENO_KV_ACCESS_TOKEN")) {
    return "its access token is missing, set DENO_KV_ACCESS_TOKEN";
  }
  return error instanceof TimeoutExceeded ? "it does not answer" : message;
}

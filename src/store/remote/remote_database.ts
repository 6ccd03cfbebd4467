import { delay } from "@std/async/delay";
import { SECOND } from "../../rules/units.ts";
import { Database } from "../engine/database.ts";
import { ReadQueue } from "../reads/read_queue.ts";
import { recordReader, UnreadableEntries } from "../reads/record_codec.ts";
import { CannotOpenStore } from "../engine/errors.ts";
import { type Convert, FORMAT, formatOf, formatProblem } from "../engine/format.ts";
import { keys } from "../engine/keys.ts";
import { Reachability, TimeoutExceeded } from "./reachability.ts";
import { remoteCommits } from "./remote_commits.ts";
import { RemoteConnection, remoteReader } from "./remote_connection.ts";

/** Groups of small reads in flight. More than of an embedded store, because each waits for a network round trip. */
const REMOTE_GROUPED_READS = 8;

/** How long a start waits for a remote store that cannot be reached yet, and the pause between attempts. */
const REMOTE_OPEN_TIME = 15 * SECOND;
const REMOTE_OPEN_PAUSE = SECOND / 2;

/** Address of a store that any number of processes share. */
export interface RemoteStore {
  /** URL of KV Connect. Without it, the database that the platform attaches to the program, as Deno Deploy does. */
  url?: string | undefined;
  /** An open handle in place of the URL. Its owner closes it, after the store. */
  kv?: Deno.Kv | undefined;
  /** How long to wait for a store that cannot be reached yet, in milliseconds. */
  timeout?: number;
  /** Converts a store of an older format; without it such a store is refused. */
  convert?: Convert;
}

/**
 * Opens a store behind a network. Deno takes the access token from the variable `DENO_KV_ACCESS_TOKEN`.
 *
 * @throws {CannotOpenStore} if the store cannot be reached within the timeout, or at once if it refuses the token or has
 *   another format, or lacks the bytes of its files.
 */
export async function openRemoteDatabase(
  { url, kv, timeout = REMOTE_OPEN_TIME, convert }: RemoteStore,
): Promise<Database> {
  const db = await connect(url, kv, timeout);
  try {
    if ((await db.reader.get(keys.byteFile())).versionstamp !== null) {
      throw cannotOpen(url, new Error(HALF_A_STORE));
    }
    let format = await formatOf(db);
    if (format < FORMAT && convert !== undefined) {
      await convert(db);
      format = await formatOf(db);
    }
    const problem = formatProblem(format);
    if (problem !== undefined) throw cannotOpen(url, new Error(problem));
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

const HALF_A_STORE = "it has the records of a store in a folder, whose second file has the bytes " +
  "of its files; make a backup of that store with kvdrive backup, and serve the backup";

async function connect(
  url: string | undefined,
  kv: Deno.Kv | undefined,
  timeout: number,
): Promise<Database> {
  const resources = new DisposableStack();
  const connection = resources.use(await openInTime(url, kv, performance.now() + timeout));
  const reachability = resources.use(new Reachability(() => connection.renew()));
  const current = () => connection.current;
  const unreadable = new UnreadableEntries();
  const reader = recordReader(remoteReader(current, reachability), unreadable);
  return new Database(reader, remoteCommits(current, reachability), {
    reads: new ReadQueue(reader, REMOTE_GROUPED_READS),
    unreadable,
    resources,
  });
}

async function openInTime(
  url: string | undefined,
  kv: Deno.Kv | undefined,
  until: number,
): Promise<RemoteConnection> {
  while (true) {
    try {
      return await RemoteConnection.open(url, kv);
    } catch (error) {
      if (performance.now() >= until || !mayRecover(error)) throw cannotOpen(url, error);
      await delay(REMOTE_OPEN_PAUSE);
    }
  }
}

/** Returns whether the store may just not have started yet. */
function mayRecover(error: unknown): boolean {
  return error instanceof TimeoutExceeded ||
    (error instanceof Error && /failed to connect|status 5\d\d|status=5\d\d/.test(error.message));
}

function cannotOpen(url: string | undefined, error: unknown): CannotOpenStore {
  const where = url === undefined ? "that is attached to this program" : `at ${withoutQuery(url)}`;
  return new CannotOpenStore(`Cannot open the store ${where}: ${reasonOf(error)}`, {
    cause: error,
  });
}

/** A query may contain a secret. */
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

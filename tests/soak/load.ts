import { Random } from "../faults/support/random.ts";
import { Project } from "../support/admin.ts";
import { MIB } from "../support/bytes.ts";
import type { Folder } from "../support/command.ts";
import { uploadParts } from "../support/drive.ts";
import type { TestServer } from "../support/server.ts";
import * as clients from "./clients.ts";
import * as hostile from "./hostile.ts";
import { bytesOf, Ledger } from "./ledger.ts";
import type { Monitor } from "./monitor.ts";
import * as operator from "./operator.ts";
import type { Verdict } from "./verdict.ts";

/** What the tenant with a limit may store, in bytes. */
const QUOTA = 40 * MIB;
/** How many of each kind of hostile client there are. */
const HOSTILE = 4;
/** How often one client may fail before it gives up. */
const MOST_FAILURES = 5;
/** Pauses of the operator, in milliseconds. */
const PAUSE = 20_000;

export interface Load {
  server: TestServer;
  folder: Folder;
  monitor: Monitor;
  verdict: Verdict;
  random: Random;
  /** When it ends, in milliseconds on the monotonic clock. */
  end: number;
}

/** Runs all clients side by side until the end; returns what must be in the store then. */
export async function runLoad(load: Load): Promise<Ledger[]> {
  const { server, folder, monitor } = load;
  const [first, second, limited] = await Promise.all([
    Project.make(server),
    Project.make(server),
    Project.make(server, { max_bytes: QUOTA }),
  ]);
  const tenants = [
    ...[first, second].flatMap((project, i) => [
      tenant(load, project, `small-${i}`, clients.smallFiles),
      tenant(load, project, `overwritten-${i}`, clients.overwrites),
      tenant(load, project, `large-${i}`, clients.largeFiles),
    ]),
    tenant(load, limited, "limited", clients.quotaFiller),
  ];
  await Promise.all([
    ...tenants.map(({ work }) => work),
    ...await attack(load, second),
    clients.lister(loopOf(load, "lister"), first.drive("small-0")),
    monitor.watch(loopOf(load, "monitor")),
    monitor.probe(loopOf(load, "probe")),
    operator.backups(loopOf(load, "backup"), server.data, folder.path, PAUSE),
    operator.checks(loopOf(load, "verify"), server.data, PAUSE),
  ]);
  return tenants.map(({ ledger }) => ledger);
}

function tenant(
  load: Load,
  project: Project,
  name: string,
  work: (options: clients.ClientOptions) => Promise<void>,
): { ledger: Ledger; work: Promise<void> } {
  const ledger = new Ledger(project.drive(name));
  return {
    ledger,
    work: work({ loop: loopOf(load, name), random: fork(load.random), ledger }),
  };
}

/** Hostile clients with the key of one tenant, who has a large file for them. */
async function attack(load: Load, project: Project): Promise<Promise<void>[]> {
  const { server } = load;
  const parts = [1, 2, 3].map((seed) => bytesOf({ size: 6 * MIB, seed }));
  const name = "bait";
  await uploadParts(project.drive("hostile"), name, parts);
  const kinds = Object.entries(hostile)
    .filter((entry): entry is [string, (options: hostile.HostileOptions) => Promise<void>] =>
      typeof entry[1] === "function"
    );
  return kinds.flatMap(([kind, work]) =>
    Array.from({ length: HOSTILE }, () =>
      work({
        loop: loopOf(load, kind),
        random: fork(load.random),
        port: server.port,
        project: project.id,
        key: project.key,
        name,
      }))
  );
}

function fork(random: Random): Random {
  return new Random(random.below(2 ** 31));
}

/** Repeats until the end of the load. What fails is noted, and the client goes on. */
function loopOf({ end, verdict }: Load, who: string): clients.Loop {
  return async (work) => {
    let failures = 0;
    while (performance.now() < end && failures < MOST_FAILURES) {
      try {
        await work();
      } catch (error) {
        failures++;
        verdict.fail(who, error);
      }
    }
  };
}

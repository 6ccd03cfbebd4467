import type { Experiment, Measure, Stage } from "../experiment.ts";
import { inDrive, PROJECT_KEY, Server, storeAndCheck, target } from "../server.ts";

const SIZE = 4096;
const WRITERS = 8;
const FOLLOWERS = 256;
const CHANGE_DAYS = 7;

/** Small uploads while as many callers as may be follow the drive, beside those without followers. */
export const followers: Experiment = {
  rows: [{
    name: "upload 4 KiB, 8 connections, 256 followers",
    unit: "req/s",
    bound: "at least",
    required: 0.2,
  }],
  async prepare(stage, checkout) {
    const servers: Server[] = [];
    for (let i = 0; i < 2; i++) {
      const server = await Server.startWithAdministrator(stage.scope, checkout);
      await storeAndCheck(server, "small", SIZE);
      await server.keepChanges(CHANGE_DAYS);
      servers.push(server);
    }
    const [followed, alone] = servers as [Server, Server];
    await Promise.all(Array.from({ length: FOLLOWERS }, () => follow(followed)));
    return { work: uploads(stage, followed), limit: uploads(stage, alone) };
  },
};

/** Follows a drive until its server ends. */
async function follow({ origin }: Server): Promise<void> {
  const { body } = await fetch(origin + inDrive("files", "/changes"), {
    headers: { "X-Api-Key": PROJECT_KEY, "Accept": "text/event-stream" },
  });
  const read = async () => {
    for await (const _ of body ?? []);
  };
  // The end of the server may break the stream.
  read().catch(() => {});
}

function uploads({ scope, load }: Stage, { origin }: Server): Measure {
  let run = 0;
  return async () => {
    const { perSecond } = await load(scope, {
      origin,
      method: "POST",
      target: target.file(`run-${run++}-{n}`),
      body: SIZE,
      connections: WRITERS,
      seconds: 1,
    });
    return [perSecond];
  };
}

import type { Experiment, Measure } from "../experiment.ts";
import { scriptFlags, startListening } from "../scope.ts";
import { assert, PROJECT_KEY, Server } from "../server.ts";

const CONNECTIONS = 32;

/** Requests to a small application through the gate, beside the application asked directly. */
export const gate: Experiment = {
  rows: [{
    name: "gate: requests to a small application",
    unit: "req/s",
    bound: "at least",
    required: 0.4,
  }],
  async prepare({ scope, load }, checkout) {
    const file = new URL("../process_application.ts", import.meta.url).pathname;
    const application = await startListening(scope, { args: ["run", ...scriptFlags(), file] });
    const server = await Server.startWithGate(scope, checkout);
    const { origin, pathname } = new URL(await server.protect("small", application.origin));
    await assertProtected(`${origin}${pathname}/`);
    const measure = (origin: string, target: string): Measure => async () => {
      const sent = { origin, method: "GET", target, connections: CONNECTIONS } as const;
      return [(await load(scope, { ...sent, seconds: 1 })).perSecond];
    };
    return {
      work: measure(origin, `${pathname}/`),
      limit: measure(application.origin, "/"),
    };
  },
};

/** Fails unless the application answers to the key alone. */
async function assertProtected(url: string): Promise<void> {
  const statusOf = async (headers: Record<string, string>): Promise<number> => {
    const response = await fetch(url, { headers });
    await response.body?.cancel();
    return response.status;
  };
  const stranger = await statusOf({});
  assert(stranger === 401, `The gate answered ${stranger} to a stranger`);
  const owner = await statusOf({ "X-Api-Key": PROJECT_KEY });
  assert(owner === 200, `The gate answered ${owner} to the owner`);
}

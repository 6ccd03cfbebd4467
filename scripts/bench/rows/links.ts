import type { Experiment, Measure } from "../experiment.ts";
import { Server, storeAndCheck, target } from "../server.ts";

const SIZE = 4096;

/** Small downloads by a link, beside the same with a key. */
export const downloadByLink: Experiment = {
  rows: [{
    name: "download 4 KiB by a link, 32 connections",
    unit: "req/s",
    bound: "at least",
    required: 0.9,
  }],
  async prepare({ scope, load }, checkout) {
    const server = await Server.start(scope, checkout);
    await storeAndCheck(server, "small", SIZE);
    const [, drive = ""] = /^(\/v1\/[^/]+\/[^/]+)\//.exec(target.download("small")) ?? [];
    const made = await server.call(201, "POST", `${drive}/links`, '{"name": "small"}');
    const { url } = JSON.parse(new TextDecoder().decode(made)) as { url: string };
    const measure = (path: string): Measure => async () => {
      const sent = { origin: server.origin, method: "GET", target: path } as const;
      return [(await load(scope, { ...sent, connections: 32, seconds: 1 })).perSecond];
    };
    return { work: measure(new URL(url).pathname), limit: measure(target.download("small")) };
  },
};

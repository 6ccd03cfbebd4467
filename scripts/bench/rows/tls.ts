import type { Experiment } from "../experiment.ts";
import { startHttpLimit } from "../limits.ts";
import type { Load, LoadResult } from "../load.ts";
import { Server, storeAndCheck, target } from "../server.ts";
import { makeTlsFiles } from "../tls_files.ts";

/** Downloads over TLS, beside a TLS listener of the runtime that answers the same bytes from memory. */
export const downloadsOverTls: readonly Experiment[] = [
  experiment(
    { name: "download 4 KiB over TLS, 32 connections", unit: "req/s", required: 0.2 },
    { size: 4096, connections: 32, of: ({ perSecond }) => perSecond },
  ),
  experiment(
    { name: "download 10 MiB over TLS, 4 connections", unit: "MB/s", required: 0.4 },
    { size: 10 * 2 ** 20, connections: 4, of: ({ megabytesPerSecond }) => megabytesPerSecond },
  ),
];

function experiment(
  row: Omit<Experiment["rows"][number], "bound">,
  { size, connections, of }: {
    size: number;
    connections: number;
    of: (result: LoadResult) => number;
  },
): Experiment {
  return {
    rows: [{ ...row, bound: "at least" }],
    async prepare({ scope, load }, checkout) {
      const tls = await makeTlsFiles(scope);
      const server = await Server.startWithTls(scope, checkout, tls);
      await storeAndCheck(server, "file", size);
      const limit = await startHttpLimit(scope, size, tls);
      const authority = tls.pem.authority;
      const measure = async (sent: Pick<Load, "origin" | "target">): Promise<number[]> => [
        of(await load(scope, { ...sent, method: "GET", connections, authority, seconds: 1 })),
      ];
      return {
        work: () => measure({ origin: server.origin, target: target.download("file") }),
        limit: () => measure({ origin: limit, target: "/" }),
      };
    },
  };
}

import type { PortSharing } from "../../../http1/listener.ts";
import type { ServeOptions } from "../../options/serve_options.ts";
import type { ServerProcess } from "./worker.ts";

/** Returns how a process shares its ports with others; `undefined` if there are none. */
export function sharingOf({ count, ports }: ServerProcess): PortSharing | undefined {
  if (count === 1) return undefined;
  return ports === undefined ? "first" : "further";
}

/** Returns the options of one process: with the ports that the first one has opened, and its part of the limits. */
export function partOf(options: ServeOptions, { count, ports }: ServerProcess): ServeOptions {
  const part = { ...options, maxUploads: Math.floor(options.maxUploads / count) };
  if (ports === undefined) return part;
  const { acme } = options;
  return {
    ...part,
    port: ports.server,
    appsPort: ports.gate ?? "off",
    s3Port: ports.s3 ?? "off",
    acme: acme && {
      ...acme,
      httpPort: ports.http ?? acme.httpPort,
      plain: acme.plain && { ...acme.plain, port: ports.plain ?? acme.plain.port },
    },
  };
}

import { join } from "@std/path/join";
import { protect, startGate } from "../../rows/downloads.ts";
import type { Scope } from "../../scope.ts";
import { assert, type Checkout, PROJECT_KEY } from "../../server.ts";
import { startNginx } from "./folder_servers.ts";
import { answers, freePort, PeerProcess } from "../process.ts";

/** A reverse proxy that runs. */
export interface ProxyServer {
  origin: string;
  /** What leads to the application. */
  target: string;
  headers: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** A reverse proxy. */
export interface Proxy {
  name: string;
  program: string;
  version: readonly string[];
  /** Starts it in front of an application. */
  start(scope: Scope, upstream: string): Promise<ProxyServer>;
}

/** The gate of a checkout. It checks the key of each caller, which the others do not. */
export function gateOf(checkout: Checkout): Omit<Proxy, "program" | "version"> {
  return {
    name: "kvdrive",
    async start(scope, upstream) {
      const server = await startGate(scope, checkout);
      const { origin, pathname: target } = await protect(server, upstream);
      return { origin, target, headers: { "X-Api-Key": PROJECT_KEY }, stop: () => server.stop() };
    },
  };
}

export const caddy: Proxy = {
  name: "Caddy",
  program: "caddy",
  version: ["version"],
  async start(scope, upstream) {
    const port = freePort();
    const origin = `http://127.0.0.1:${port}`;
    const file = join(await scope.makeFolder(), "Caddyfile");
    // Its address for administrators is a fixed port by default.
    const site = `:${port} {\n  bind 127.0.0.1\n  reverse_proxy ${new URL(upstream).host}\n}\n`;
    await Deno.writeTextFile(file, `{\n  admin off\n  auto_https off\n}\n${site}`);
    const process = await PeerProcess.start(
      { scope, tracer: [] },
      { program: "caddy", args: ["run", "--config", file, "--adapter", "caddyfile"] },
      () => answers(origin),
    );
    return { origin, target: "/", headers: {}, stop: () => process.stop() };
  },
};

export const nginxProxy: Proxy = {
  name: "nginx",
  program: "nginx",
  version: ["-v"],
  async start(scope, upstream) {
    // Without these lines it makes a connection to the application for each request.
    const http = `upstream app { server ${new URL(upstream).host}; keepalive 32; }`;
    const lines = [
      "proxy_pass http://app;",
      "proxy_http_version 1.1;",
      'proxy_set_header Connection "";',
    ];
    const server = `location / { ${lines.join(" ")} }`;
    const site = { scope, data: await scope.makeFolder(), tracer: [] };
    const { process, origin } = await startNginx(site, freePort(), server, http);
    return { origin, target: "/", headers: {}, stop: () => process.stop() };
  },
};

/** @throws unless the proxy passes on the answer of the application. */
export async function checkProxy({ origin, target, headers }: ProxyServer): Promise<void> {
  const response = await fetch(origin + target, { headers: { ...headers } });
  const text = await response.text();
  assert(response.status === 200, `${origin} answered ${response.status}: ${text}`);
  assert(text.startsWith('{"entries":[{"id":0,'), `${origin} answered ${text}`);
}

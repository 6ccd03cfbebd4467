import { fromFileUrl } from "@std/path";
import { PROJECT_KEY, target } from "../../server.ts";
import type { Peer } from "../peer.ts";
import { answers, freePort, PeerProcess } from "../process.ts";
import { sendOnce, type Template } from "../template.ts";

const ROOT = fromFileUrl(new URL("../../../..", import.meta.url));

/** This checkout, from source. */
export const kvdrive: Peer = {
  name: "kvdrive",
  program: Deno.execPath(),
  version: ["run", "-A", `${ROOT}main.ts`, "version"],
  async start(site) {
    const port = freePort();
    const origin = `http://127.0.0.1:${port}`;
    const headers = { "X-Api-Key": PROJECT_KEY };
    const process = await PeerProcess.start(site, {
      program: Deno.execPath(),
      args: ["run", "-A", "main.ts", "serve", "--port", String(port), "--data", site.data],
      // The runtime's cache of modules is in the user's home.
      env: {
        ...Deno.env.toObject(),
        KVDRIVE_PROJECT_KEY: PROJECT_KEY,
        KVDRIVE_APPS_PORT: "0",
        NO_COLOR: "1",
      },
      cwd: ROOT,
    }, () => answers(`${origin}/healthz`));
    const upload = (body: Uint8Array<ArrayBuffer>): Template => {
      return { method: "POST", target: target.file("{n}"), headers, body };
    };
    return {
      process,
      origin,
      headers,
      setUp: () => Promise.resolve(),
      upload,
      async store(name, bytes) {
        await sendOnce(origin, upload(bytes), name);
        return target.download(name);
      },
    };
  },
};

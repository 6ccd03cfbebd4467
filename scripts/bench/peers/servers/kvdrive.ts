import { fromFileUrl } from "@std/path/from-file-url";
import type { Message } from "../../load.ts";
import { davHeaders, davTarget, PROJECT_KEY, Server, target } from "../../server.ts";
import type { Peer } from "../peer.ts";
import { freePort } from "../process.ts";
import { sendOnce } from "../template.ts";

const root = fromFileUrl(new URL("../../../..", import.meta.url));

/** This checkout, from source. */
export const kvdrive: Peer = {
  name: "kvdrive",
  program: Deno.execPath(),
  version: ["run", "-A", `${root}main.ts`, "version"],
  async start({ scope, data, tracer }) {
    const port = freePort();
    const env = { KVDRIVE_S3_PORT: String(port) };
    const server = await Server.start(scope, { root }, data, { env, tracer });
    const headers = { "X-Api-Key": PROJECT_KEY };
    const upload = (body: Uint8Array<ArrayBuffer>): Message => {
      return { method: "POST", target: target.file("{n}"), headers, body };
    };
    return {
      process: server,
      origin: server.origin,
      headers,
      s3: {
        origin: `http://127.0.0.1:${port}`,
        // The secret is shown once, so each start has its own key.
        key: await server.administer(201, "POST", "/s3-keys", { name: `bench-${Date.now()}` }),
      },
      setUp: () => Promise.resolve(),
      upload,
      async store(name, bytes) {
        await sendOnce(server.origin, upload(bytes), name);
        return target.download(name);
      },
    };
  },
};

/** The same over WebDAV. */
export const kvdriveWebdav: Peer = {
  ...kvdrive,
  name: "kvdrive WebDAV",
  async start(site) {
    const { process, origin, store } = await kvdrive.start(site);
    const upload = (body: Uint8Array<ArrayBuffer>): Message => {
      return { method: "PUT", target: davTarget("{n}"), headers: davHeaders, body };
    };
    return {
      process,
      origin,
      headers: davHeaders,
      async setUp() {
        // WebDAV does not create drives.
        await store("first", new Uint8Array(1));
      },
      upload,
      async store(name, bytes) {
        await sendOnce(origin, upload(bytes), name);
        return davTarget(name);
      },
    };
  },
};

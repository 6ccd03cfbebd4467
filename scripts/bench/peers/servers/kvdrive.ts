import { fromFileUrl } from "@std/path/from-file-url";
import { ADMIN_TOKEN, davHeaders, davTarget, PROJECT, PROJECT_KEY, target } from "../../server.ts";
import type { Peer, S3Access } from "../peer.ts";
import { answers, freePort, PeerProcess } from "../process.ts";
import { sendOnce, type Template } from "../template.ts";
import { s3Access } from "./s3_bucket.ts";

const ROOT = fromFileUrl(new URL("../../../..", import.meta.url));

/** This checkout, from source. */
export const kvdrive: Peer = {
  name: "kvdrive",
  program: Deno.execPath(),
  version: ["run", "-A", `${ROOT}main.ts`, "version"],
  async start(site) {
    const [port, s3Port] = [freePort(), freePort()];
    const origin = `http://127.0.0.1:${port}`;
    const headers = { "X-Api-Key": PROJECT_KEY };
    const process = await PeerProcess.start(site, {
      program: Deno.execPath(),
      args: [
        ...["run", "-A", "main.ts", "serve", "--data", site.data],
        ...["--port", String(port), "--s3-port", String(s3Port)],
      ],
      // The runtime's cache of modules is in the user's home.
      env: {
        ...Deno.env.toObject(),
        KVDRIVE_PROJECT_KEY: PROJECT_KEY,
        KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN,
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
      s3: await makeKey(origin, `http://127.0.0.1:${s3Port}`),
      setUp: () => Promise.resolve(),
      upload,
      async store(name, bytes) {
        await sendOnce(origin, upload(bytes), name);
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
    const { process, origin, headers: apiHeaders } = await kvdrive.start(site);
    const upload = (body: Uint8Array<ArrayBuffer>): Template => {
      return { method: "PUT", target: davTarget("{n}"), headers: davHeaders, body };
    };
    return {
      process,
      origin,
      headers: davHeaders,
      async setUp() {
        const drive = {
          method: "POST",
          target: target.file("first"),
          headers: apiHeaders,
        } as const;
        await sendOnce(origin, { ...drive, body: new Uint8Array(1) }, "");
      },
      upload,
      async store(name, bytes) {
        await sendOnce(origin, upload(bytes), name);
        return davTarget(name);
      },
    };
  },
};

/** Makes a key for S3, whose secret is shown once: each start has its own. */
async function makeKey(origin: string, s3Origin: string): Promise<S3Access> {
  const { bytes } = await sendOnce(origin, {
    method: "POST",
    target: `/admin/v1/projects/${PROJECT}/s3-keys`,
    headers: { "Authorization": `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/json" },
    body: new TextEncoder().encode(JSON.stringify({ name: "bench" })),
  }, "");
  const key: { access_key_id: string; secret_access_key: string } = JSON.parse(
    new TextDecoder().decode(bytes),
  );
  return s3Access(s3Origin, key.access_key_id, key.secret_access_key);
}

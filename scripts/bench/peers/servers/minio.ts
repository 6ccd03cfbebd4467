import { signedHeaders } from "./aws_signature.ts";
import type { Peer } from "../peer.ts";
import { answers, freePort, PeerProcess } from "../process.ts";
import { sendOnce, type Template } from "../template.ts";

const BUCKET = "bench";

/** The administrator of a new server. */
const ADMINISTRATOR = { accessKey: "minioadmin", secretKey: "minioadmin", region: "us-east-1" };

/**
 * All callers may read and write files, so that wrk can send requests without a signature each. The server is spared the
 * work of checking them.
 */
const POLICY = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{
    Effect: "Allow",
    Principal: { AWS: ["*"] },
    Action: ["s3:GetObject", "s3:PutObject"],
    Resource: [`arn:aws:s3:::${BUCKET}/*`],
  }],
});

/** MinIO on one folder, with a bucket that is open to all. */
export const minio: Peer = {
  name: "MinIO",
  program: "minio",
  version: ["--version"],
  async start(site) {
    const [port, console] = [freePort(), freePort()];
    const origin = `http://127.0.0.1:${port}`;
    const addresses = [`--address=127.0.0.1:${port}`, `--console-address=127.0.0.1:${console}`];
    const process = await PeerProcess.start(
      site,
      { program: "minio", args: ["server", ...addresses, site.data] },
      // Its health endpoint says that it is ready before it takes requests; those are answered 503.
      () => answers(`${origin}/${BUCKET}/ready`, [403, 404]),
    );
    const administer = async (path: string, body: string): Promise<void> => {
      const request = { method: "PUT", url: origin + path, body, time: new Date() } as const;
      const headers = await signedHeaders({ ...request, ...ADMINISTRATOR });
      const bytes = new TextEncoder().encode(body);
      await sendOnce(origin, { method: "PUT", target: path, headers, body: bytes }, "");
    };
    const upload = (body: Uint8Array<ArrayBuffer>): Template => {
      return { method: "PUT", target: `/${BUCKET}/{n}`, headers: {}, body };
    };
    return {
      process,
      origin,
      headers: {},
      async setUp() {
        await administer(`/${BUCKET}`, "");
        await administer(`/${BUCKET}?policy=`, POLICY);
      },
      upload,
      async store(name, bytes) {
        await sendOnce(origin, upload(bytes), name);
        return `/${BUCKET}/${name}`;
      },
    };
  },
};

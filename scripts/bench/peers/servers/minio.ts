import type { Message } from "../../load.ts";
import type { Peer } from "../peer.ts";
import { answers, freePort, PeerProcess } from "../process.ts";
import { signed } from "../stored.ts";
import { sendOnce } from "../template.ts";

const BUCKET = "bench";

/** The administrator of a new server. */
const key = { access_key_id: "minioadmin", secret_access_key: "minioadmin" };

/**
 * All callers may read and write files in one bucket. The rows that compare it with other APIs send requests without a
 * signature, which the server need not check.
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
    const s3 = { origin, key };
    const administer = async (target: string, text: string): Promise<void> => {
      const body = new TextEncoder().encode(text);
      await sendOnce(origin, signed(s3, { method: "PUT", target, body }), "");
    };
    const upload = (body: Uint8Array<ArrayBuffer>): Message => {
      return { method: "PUT", target: `/${BUCKET}/{n}`, headers: {}, body };
    };
    return {
      process,
      origin,
      headers: {},
      s3,
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

import { assert } from "../../server.ts";
import type { Peer } from "../peer.ts";
import { answers, freePort, PeerProcess } from "../process.ts";
import { sendOnce, type Template } from "../template.ts";

/** tusd on a folder. It names each upload itself. */
export const tusd: Peer = {
  name: "tusd",
  program: "tusd",
  version: ["-version"],
  async start(site) {
    const port = freePort();
    const origin = `http://127.0.0.1:${port}`;
    const process = await PeerProcess.start(
      site,
      {
        program: "tusd",
        args: ["-host=127.0.0.1", `-port=${port}`, `-upload-dir=${site.data}`],
      },
      () => answers(origin),
    );
    return {
      process,
      origin,
      headers: {},
      setUp: () => Promise.resolve(),
      upload,
      async store(name, bytes) {
        const { headers } = await sendOnce(origin, upload(bytes), name);
        // "The Upload-Offset header ... indicates how many bytes were accepted": creation with upload, tus 1.0.0.
        const accepted = headers.get("Upload-Offset");
        assert(accepted === String(bytes.byteLength), `tusd took ${accepted ?? "no"} bytes`);
        return new URL(headers.get("Location") ?? "", origin).pathname;
      },
    };
  },
};

/** One request that creates an upload and sends all its bytes. */
function upload(body: Uint8Array<ArrayBuffer>): Template {
  const headers = {
    "Tus-Resumable": "1.0.0",
    "Upload-Length": String(body.byteLength),
    "Content-Type": "application/offset+octet-stream",
  };
  return { method: "POST", target: "/files/", headers, body };
}

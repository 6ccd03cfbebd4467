import type { Peer } from "../peer.ts";
import { answers, freePort, PeerProcess } from "../process.ts";
import { sendOnce, type Template } from "../template.ts";

/** SeaweedFS as one process: master, volume server and filer, which takes the requests. */
export const seaweedfs: Peer = {
  name: "SeaweedFS",
  program: "weed",
  version: ["version"],
  async start(site) {
    const port = freePort();
    const origin = `http://127.0.0.1:${port}`;
    const process = await PeerProcess.start(
      site,
      { program: "weed", args: ["server", `-dir=${site.data}`, ...flags(port, site.data)] },
      // The filer listens before there is a volume to write to.
      () => answers(`${origin}/ready`, [201], { method: "PUT", body: "ready" }),
    );
    return {
      process,
      origin,
      headers: {},
      setUp: () => Promise.resolve(),
      upload,
      async store(name, bytes) {
        await sendOnce(origin, upload(bytes), name);
        return `/bench/${name}`;
      },
    };
  },
};

/** Addresses in place of fixed ports. By default it waits 10 s before it stops. */
function flags(port: number, data: string): string[] {
  const services = ["master", "volume", "filer"];
  return [
    "-ip=127.0.0.1",
    "-filer",
    ...services.map((name) => `-${name}.port=${name === "filer" ? port : freePort()}`),
    ...services.map((name) => `-${name}.port.grpc=${freePort()}`),
    `-filer.localSocket=${data}/filer.sock`,
    "-volume.preStopSeconds=1",
  ];
}

function upload(body: Uint8Array<ArrayBuffer>): Template {
  return { method: "PUT", target: "/bench/{n}", headers: {}, body };
}

import { join } from "@std/path/join";
import type { Peer } from "../peer.ts";
import { answers, freePort, PeerProcess } from "../process.ts";
import { sendOnce, type Template } from "../template.ts";
import { s3Access } from "./s3_bucket.ts";

/** The only caller of S3. */
const ACCESS_KEY = "benchbenchbench";
const SECRET_KEY = "bench-0123456789";
const IDENTITIES = JSON.stringify({
  identities: [{
    name: "bench",
    credentials: [{ accessKey: ACCESS_KEY, secretKey: SECRET_KEY }],
    actions: ["Admin", "Read", "Write", "List", "Tagging"],
  }],
});

/** SeaweedFS as one process: master, volume server, filer, which takes the requests, and S3. */
export const seaweedfs: Peer = {
  name: "SeaweedFS",
  program: "weed",
  version: ["version"],
  async start(site) {
    const [port, s3Port] = [freePort(), freePort()];
    const origin = `http://127.0.0.1:${port}`;
    const s3Origin = `http://127.0.0.1:${s3Port}`;
    const identities = join(await site.scope.makeFolder(), "s3.json");
    await Deno.writeTextFile(identities, IDENTITIES);
    const process = await PeerProcess.start(
      site,
      {
        program: "weed",
        args: [
          "server",
          `-dir=${site.data}`,
          ...flags({ port, s3Port, data: site.data }),
          `-s3.config=${identities}`,
        ],
      },
      // The filer listens before there is a volume to write to.
      async () =>
        await answers(`${origin}/ready`, [201], { method: "PUT", body: "ready" }) &&
        await answers(s3Origin),
    );
    return {
      process,
      origin,
      headers: {},
      s3: s3Access(s3Origin, ACCESS_KEY, SECRET_KEY),
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
function flags({ port, s3Port, data }: { port: number; s3Port: number; data: string }): string[] {
  const services = ["master", "volume", "filer", "s3"];
  const known: Record<string, number> = { filer: port, s3: s3Port };
  return [
    "-ip=127.0.0.1",
    "-filer",
    "-s3",
    ...services.map((name) => `-${name}.port=${known[name] ?? freePort()}`),
    ...services.map((name) => `-${name}.port.grpc=${freePort()}`),
    `-filer.localSocket=${data}/filer.sock`,
    `-s3.localSocket=${data}/s3.sock`,
    "-volume.preStopSeconds=1",
  ];
}

function upload(body: Uint8Array<ArrayBuffer>): Template {
  return { method: "PUT", target: "/bench/{n}", headers: {}, body };
}

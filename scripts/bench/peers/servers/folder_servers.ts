import { join } from "@std/path/join";
import type { Peer } from "../peer.ts";
import { answers, freePort, PeerProcess, type Site } from "../process.ts";
import { sendOnce, type Template } from "../template.ts";

/** A program that serves a folder over WebDAV. @param argsOf Returns its arguments. */
function webdavPeer(
  peer: Pick<Peer, "name" | "program" | "version">,
  argsOf: (port: number, folder: string) => string[],
): Peer {
  return {
    ...peer,
    async start(site) {
      const port = freePort();
      const origin = `http://127.0.0.1:${port}`;
      const program = { program: peer.program, args: argsOf(port, site.data) };
      const process = await PeerProcess.start(site, program, () => answers(origin));
      const upload = (body: Uint8Array<ArrayBuffer>): Template => {
        return { method: "PUT", target: "/{n}", headers: {}, body };
      };
      return {
        process,
        origin,
        headers: {},
        setUp: () => Promise.resolve(),
        upload,
        async store(name, bytes) {
          await sendOnce(origin, upload(bytes), name);
          return `/${name}`;
        },
      };
    },
  };
}

export const rclone: Peer = webdavPeer(
  { name: "rclone webdav", program: "rclone", version: ["version"] },
  (port, folder) => ["serve", "webdav", `--addr=127.0.0.1:${port}`, folder],
);

export const dufs: Peer = webdavPeer(
  { name: "dufs", program: "dufs", version: ["--version"] },
  (port, folder) => ["--bind", "127.0.0.1", "--port", String(port), "--allow-all", folder],
);

/** nginx as a server of a folder, which is filled from outside. */
export const nginxStatic: Peer = {
  name: "nginx",
  program: "nginx",
  version: ["-v"],
  async start(site) {
    const port = freePort();
    const { process, origin } = await startNginx(site, port, `root ${site.data};`);
    return {
      process,
      origin,
      headers: {},
      setUp: () => Promise.resolve(),
      async store(name, bytes) {
        await Deno.writeFile(join(site.data, name), bytes);
        return `/${name}`;
      },
    };
  },
};

/** Starts nginx with the settings of Debian's package. @param server Lines of the `server` block. @param http Lines outside of it. */
export async function startNginx(
  site: Site,
  port: number,
  server: string,
  http = "",
): Promise<{ process: PeerProcess; origin: string }> {
  const folder = await site.scope.makeFolder();
  const file = join(folder, "nginx.conf");
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  await Deno.writeTextFile(
    file,
    `daemon off;
${Deno.uid() === 0 ? "user root;" : ""}
worker_processes auto;
pid ${folder}/pid;
events { worker_connections 768; }
http {
  sendfile on;
  tcp_nopush on;
  types_hash_max_size 2048;
  default_type application/octet-stream;
  access_log ${folder}/access.log;
  ${kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join("\n  ")}
  ${http}
  server {
    listen 127.0.0.1:${port};
    ${server}
  }
}
`,
  );
  const origin = `http://127.0.0.1:${port}`;
  // On Debian it is in a folder that is only in the PATH of root.
  const PATH = `${Deno.env.get("PATH") ?? ""}:/usr/sbin:/usr/local/sbin`;
  const process = await PeerProcess.start(
    site,
    { program: "nginx", args: ["-p", folder, "-c", file, "-e", "stderr"], env: { PATH } },
    () => answers(origin),
  );
  return { process, origin };
}

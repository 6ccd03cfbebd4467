import { join } from "@std/path/join";
import type { Peer } from "../peer.ts";
import { answers, freePort, PeerProcess, type Site } from "../process.ts";
import { sendOnce, type Template } from "../template.ts";

/** rclone as a WebDAV server of a folder. */
export const rclone: Peer = {
  name: "rclone webdav",
  program: "rclone",
  version: ["version"],
  async start(site) {
    const port = freePort();
    const origin = `http://127.0.0.1:${port}`;
    const process = await PeerProcess.start(
      site,
      { program: "rclone", args: ["serve", "webdav", `--addr=127.0.0.1:${port}`, site.data] },
      () => answers(origin),
    );
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

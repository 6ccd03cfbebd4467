import { Folder } from "../command.ts";

/** nginx in front of something, reachable through a socket in a folder of its own. */
export class Nginx implements AsyncDisposable {
  private constructor(
    private readonly folder: Folder,
    private readonly process: Deno.ChildProcess,
    private readonly client: Deno.HttpClient,
    private readonly socket: string,
  ) {}

  /** Starts it with a `server` block that listens on port 80 as it is written. */
  static async start(server: string): Promise<Nginx> {
    const folder = await Folder.make();
    const socket = folder.at("socket");
    await folder.write(
      "nginx.conf",
      configuration(folder, server.replace("listen 80;", `listen unix:${socket};`)),
    );
    try {
      const process = spawn(["-p", folder.path, "-c", folder.at("nginx.conf"), "-e", "stderr"]);
      await isListening(process, socket);
      const client = Deno.createHttpClient({ proxy: { transport: "unix", path: socket } });
      return new Nginx(folder, process, client, socket);
    } catch (error) {
      await folder[Symbol.asyncDispose]();
      throw error;
    }
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return await fetch(`http://viewer.example.com${path}`, { ...init, client: this.client });
  }

  /** Opens a connection for requests that are sent byte by byte. */
  async connect(): Promise<Deno.Conn> {
    return await Deno.connect({ transport: "unix", path: this.socket });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    this.process.kill("SIGTERM");
    await this.process.status;
    await this.folder[Symbol.asyncDispose]();
  }
}

function configuration(folder: Folder, server: string): string {
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const paths = kinds.map((kind) => `${kind}_temp_path ${folder.at(kind)};`);
  return `daemon off;
pid ${folder.at("pid")};
events {}
http {
access_log off;
${paths.join("\n")}
${server}
}
`;
}

function spawn(args: string[]): Deno.ChildProcess {
  try {
    return new Deno.Command("nginx", { args, stdin: "null", stdout: "null", stderr: "inherit" })
      .spawn();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error("nginx is not installed: apt-get install nginx-light", { cause: error });
  }
}

/** Waits until nginx takes connections; fails when it has ended instead. */
async function isListening(process: Deno.ChildProcess, path: string): Promise<void> {
  let ended = false;
  process.status.then(() => ended = true);
  while (!ended) {
    try {
      (await Deno.connect({ transport: "unix", path })).close();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  throw new Error("nginx ended: its reason is above");
}

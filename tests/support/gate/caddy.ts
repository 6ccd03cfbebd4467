import { Folder } from "../command.ts";
import { TlsFiles } from "../tls.ts";
import { unusedPort } from "../processes/ports.ts";

/** Caddy with https in front of something, on a free port of this machine. */
export class Caddy implements AsyncDisposable {
  private constructor(
    private readonly folder: Folder,
    private readonly process: Deno.ChildProcess,
    private readonly client: Deno.HttpClient,
    /** Its address. */
    readonly origin: string,
    /** The file of the authority that its certificate is from. */
    readonly authority: string,
  ) {}

  /** Starts it with a site that is called `name` in its configuration. */
  static async start(site: string, name: string): Promise<Caddy> {
    const folder = await Folder.make();
    try {
      await using files = await TlsFiles.make();
      const [authority, certificate, key] = [folder.at("ca.pem"), folder.at("c"), folder.at("k")];
      await Deno.copyFile(files.authority, authority);
      await Deno.copyFile(files.certificate, certificate);
      await Deno.copyFile(files.key, key);
      const port = unusedPort();
      const origin = `https://localhost:${port}`;
      const own = site.replace(
        `${name} {`,
        `${origin} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`,
      );
      const path = await folder.write("Caddyfile", `{\n\tadmin off\n\tauto_https off\n}\n${own}`);
      const process = spawn(path, folder);
      await isListening(process, port);
      const client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(authority)] });
      return new Caddy(folder, process, client, origin, authority);
    } catch (error) {
      await folder[Symbol.asyncDispose]();
      throw error;
    }
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return await fetch(this.origin + path, { ...init, client: this.client });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    this.process.kill("SIGKILL");
    await this.process.status;
    await this.folder[Symbol.asyncDispose]();
  }
}

function spawn(path: string, folder: Folder): Deno.ChildProcess {
  const env = { XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path };
  const args = ["run", "--config", path, "--adapter", "caddyfile"];
  try {
    return new Deno.Command("caddy", { args, env, stdin: "null", stdout: "null", stderr: "null" })
      .spawn();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error("Caddy is not installed: apt-get install caddy", { cause: error });
  }
}

/** Waits until Caddy takes connections; fails when it has ended instead. */
async function isListening(process: Deno.ChildProcess, port: number): Promise<void> {
  let ended = false;
  process.status.then(() => ended = true);
  while (!ended) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  throw new Error("Caddy ended: `caddy validate` names the reason");
}

import { Folder } from "../support/command.ts";
import { Denokv, DENOKV_TOKEN } from "../support/denokv.ts";
import { TestServer } from "../support/server.ts";
import { StoreLink } from "../support/store_link.ts";
import { ADMIN_TOKEN } from "../support/admin.ts";

/** A shared store, and the network between it and its servers. `await using` ends all of it. */
export class SharedStore implements AsyncDisposable {
  private constructor(
    readonly folder: Folder,
    public denokv: Denokv,
    readonly link: StoreLink,
  ) {}

  static async start(): Promise<SharedStore> {
    const folder = await Folder.make();
    const denokv = await Denokv.start(folder.at("kvdrive.db"));
    return new SharedStore(folder, denokv, new StoreLink(denokv.port));
  }

  /** A server that reaches the store over the link, or at another address. */
  async serve(url = this.link.url): Promise<TestServer> {
    return await TestServer.start({
      args: ["--kv", url],
      env: { DENO_KV_ACCESS_TOKEN: DENOKV_TOKEN, KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN },
      data: this.folder.at("unused"),
    });
  }

  /** The store goes away, as in a crash, and comes back at the same address. */
  async restart(meanwhile: () => Promise<void>): Promise<void> {
    const { port } = this.denokv;
    await this.denokv.stop();
    await meanwhile();
    this.denokv = await Denokv.start(this.folder.at("kvdrive.db"), port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.link[Symbol.asyncDispose]();
    await this.denokv.stop();
    await this.folder[Symbol.asyncDispose]();
  }
}

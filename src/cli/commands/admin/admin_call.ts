import type { Administration } from "../../../client/administration.ts";
import { RemoteAdministration } from "../../../client/remote_administration.ts";
import { UsageError } from "../../terminal/output.ts";
import { connect, connectTo, PLAIN_MESSAGES, serverOf } from "../connect.ts";
import { StoreCall } from "../store_call.ts";
import { LocalAdministration } from "./local_administration.ts";

/** The call of a command of the administration. */
export class AdminCall extends StoreCall {
  /**
   * Runs `work` on the server that the options, the environment or the profile name, otherwise on the store of this machine.
   * `--data` and `--kv` are always the store.
   */
  async administer<T>(work: (administration: Administration) => Promise<T>): Promise<T> {
    const { args, env } = this;
    const remote = ["url", "profile", "key-file"].find((name) => args.has(name));
    const local = ["data", "kv"].find((name) => args.has(name));
    if (remote !== undefined && local !== undefined) {
      throw new UsageError(`The options --${remote} and --${local} exclude each other`);
    }
    const choice = local === undefined ? await serverOf(args, env) : undefined;
    if (choice === undefined && remote === undefined) {
      return await this.withStore(async (store) =>
        await work(new LocalAdministration(store, this.serverNames))
      );
    }
    using connection = choice === undefined
      ? await connect(args, env, PLAIN_MESSAGES)
      : await connectTo(choice, args, env, PLAIN_MESSAGES);
    return await work(new RemoteAdministration(connection));
  }
}

import { Administration } from "../../../client/administration.ts";
import type { Connection } from "../../../client/connection.ts";
import { Refused } from "../../../client/errors.ts";
import { Retrier } from "../../../client/retrier.ts";
import { UsageError } from "../../terminal/output.ts";
import { quoteWord } from "../../terminal/text.ts";
import { chooseServer, connectTo } from "../connect.ts";
import { connectToStore } from "../local_server.ts";
import { StoreCall } from "../store_call.ts";

export class AdminCall extends StoreCall {
  /**
   * Runs `work` on the server that the options, the environment or the profile name, otherwise on the store of this machine.
   * `--data`, `--kv` and `--s3-secret-file` are always for the store.
   */
  async administer<T>(work: (administration: Administration) => Promise<T>): Promise<T> {
    try {
      return await this.#connected((connection) => work(new Administration(connection)));
    } catch (error) {
      throw error instanceof Refused ? this.#withoutSecrets(error) : error;
    }
  }

  async #connected<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const { args, env } = this;
    const remote = ["url", "profile", "key-file"].find((name) => args.has(name));
    const local = ["data", "kv", "s3-secret-file"].find((name) => args.has(name));
    if (remote !== undefined && local !== undefined) {
      throw new UsageError(`The options --${remote} and --${local} exclude each other`);
    }
    const choice = local === undefined ? await chooseServer(args, env) : undefined;
    if (choice === undefined || (choice.isDefault && remote === undefined)) {
      return await this.withStore(async (store) => {
        const options = { retrier: new Retrier() };
        using connection = await connectToStore(store, this.place, env, options);
        return await work(connection);
      });
    }
    using connection = await connectTo(choice, args, env);
    return await work(connection);
  }

  /** Hides a misplaced secret, which the server repeats as the name of what it does not have. */
  #withoutSecrets({ status, message, code }: Refused): Refused {
    const hidden = this.args.operands.reduce(
      (text, word) => text.replaceAll(`"${word}"`, quoteWord(word)),
      message,
    );
    return new Refused(status, hidden, code);
  }
}

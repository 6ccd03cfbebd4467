import { resolve } from "@std/path/resolve";
import { Administration } from "../../client/administration.ts";
import { commandRetrier, type Connection } from "../../client/connection.ts";
import { KvdriveError, reworded } from "../../client/errors.ts";
import { UsageError } from "../terminal/output.ts";
import { quoteWord } from "../terminal/text.ts";
import type { CommandCall } from "./command_call.ts";
import { chooseServer, connectTo } from "./connect.ts";
import { connectToStore } from "./local_server.ts";

/**
 * Runs `work` on the server that the options, the environment or the profile name, otherwise on the store of this machine.
 * `--data`, `--kv` and `--s3-secret-file` are always for the store.
 */
export async function administer<T>(
  call: CommandCall,
  work: (administration: Administration) => Promise<T>,
): Promise<T> {
  try {
    return await connected(call, (connection) => work(new Administration(connection)));
  } catch (error) {
    throw error instanceof KvdriveError ? withoutSecrets(call, error) : error;
  }
}

async function connected<T>(
  call: CommandCall,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { args, env, data, kv } = call;
  const remote = ["url", "profile", "key-file"].find((name) => args.has(name));
  const local = ["data", "kv", "s3-secret-file"].find((name) => args.has(name));
  if (remote !== undefined && local !== undefined) {
    throw new UsageError(`The options --${remote} and --${local} exclude each other`);
  }
  const choice = local === undefined ? await chooseServer(args, env) : undefined;
  if (choice === undefined || (choice.isDefault && remote === undefined)) {
    return await call.withStore(async (store) => {
      const options = { retrier: commandRetrier() };
      using connection = await connectToStore(store, kv ?? resolve(data), env, options);
      return await work(connection);
    });
  }
  using connection = await connectTo(choice, args, env);
  return await work(connection);
}

/** Hides a misplaced secret, which the server repeats as the name of what it does not have. */
function withoutSecrets({ args }: CommandCall, error: KvdriveError): KvdriveError {
  const hidden = args.operands.reduce(
    (text, word) => text.replaceAll(`"${word}"`, quoteWord(word)),
    error.message,
  );
  return reworded(error, hidden);
}

import { deadline } from "@std/async/deadline";
import { Connection } from "../../../client/connection.ts";
import { RemoteDrives } from "../../../client/remote_drives.ts";
import { commandRetrier } from "../../../client/retrier.ts";
import type { Arguments } from "../../options/command.ts";
import { type Environment, print } from "../../terminal/output.ts";
import { printable } from "../../terminal/text.ts";
import { chooseServer } from "../connect.ts";

/** Milliseconds that a shell waits for completions. */
const PATIENCE = 2000;

/** The most names that are offered. */
const MAX_NAMES = 1000;

/** Prints the drives or files that begin with a word, for the completion scripts. Problems print nothing. */
export async function complete(args: Arguments, env: Environment): Promise<void> {
  try {
    const names: string[] = await deadline(namesFor(args.get("WORD") ?? "", args, env), PATIENCE);
    // A shell reads one name a line.
    const usable = names.filter((name) => printable(name) === name);
    print(usable.map((name) => `${name}\n`).join(""));
  } catch {
    // There is no place for a message between a command line and its completions.
  }
}

async function namesFor(word: string, args: Arguments, env: Environment): Promise<string[]> {
  const { url, credentials, cacert, isDefault } = await chooseServer(args, env);
  if (credentials === undefined || isDefault) return [];
  const authorities = cacert === undefined ? undefined : await Deno.readTextFile(cacert);
  const retrier = commandRetrier({ retryFor: 0 });
  using connection = new Connection({ url, credentials, retrier, authorities });
  const drives = new RemoteDrives(connection);
  const at = word.indexOf(":");
  if (at === -1) return await firstOf(drives.listDrives(word), ({ name }) => `${name}:`);
  const drive = word.slice(0, at);
  const entries = drives.entries(drive, word.slice(at + 1), false);
  return await firstOf(entries, ({ name }) => `${drive}:${name}`);
}

async function firstOf<T>(all: AsyncIterable<T>, nameOf: (one: T) => string): Promise<string[]> {
  const names: string[] = [];
  for await (const one of all) {
    if (names.push(nameOf(one)) >= MAX_NAMES) break;
  }
  return names;
}

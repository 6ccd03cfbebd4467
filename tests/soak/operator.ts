/**
 * The person who runs the server: backups and checks while it serves.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { programCommand } from "../support/command.ts";
import type { Loop } from "./clients.ts";

/**
 * Makes a backup beside the server's own ones, restores and verifies it, and removes both.
 *
 * @param data The server's data folder.
 * @param folder For what the operator makes.
 * @param pause Between two turns, in milliseconds.
 */
export async function backups(
  loop: Loop,
  data: string,
  folder: string,
  pause: number,
): Promise<void> {
  await loop(async () => {
    const file = `${folder}/by-hand.db`;
    const restored = `${folder}/restored`;
    await command("backup", file, "--data", data);
    await command("restore", file, "--data", restored);
    await command("verify", "--data", restored);
    await Deno.remove(file);
    await Deno.remove(restored, { recursive: true });
    await delay(pause);
  });
}

/** Verifies the store that is being served. */
export async function checks(loop: Loop, data: string, pause: number): Promise<void> {
  await loop(async () => {
    await command("verify", "--data", data);
    await delay(pause);
  });
}

/** Restores and verifies the newest backup that the server made by itself. */
export async function checkOwnBackup(backups: string, folder: string): Promise<void> {
  const entries = await Array.fromAsync(Deno.readDir(backups));
  const names = entries.map(({ name }) => name).filter((name) => name.endsWith(".db")).sort();
  const newest = names.at(-1);
  assert(newest !== undefined, "The server has made no backup");
  const restored = `${folder}/own`;
  await command("restore", `${backups}/${newest}`, "--data", restored);
  await command("verify", "--data", restored);
  await Deno.remove(restored, { recursive: true });
}

async function command(...args: string[]): Promise<void> {
  const [program, ...words] = programCommand(args);
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: words,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assertEquals(code, 0, `kvdrive ${args.join(" ")}: ${text}`);
}

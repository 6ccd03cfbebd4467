import { join } from "@std/path";
import { Denokv, DENOKV_TOKEN, denokvProgram } from "./denokv.ts";

/** What a server is started with so that it uses the shared store of its data folder, and a way to say that it ended. */
export interface Membership {
  isShared: boolean;
  args: readonly string[];
  env: Record<string, string>;
  leave(): Promise<void>;
}

interface Shared {
  denokv: Promise<Denokv>;
  members: number;
}

const ALONE: Membership = { isShared: false, args: [], env: {}, leave: () => Promise.resolve() };

/** By data folder. The file in it is the one that a server without a shared store would have. */
const stores = new Map<string, Shared>();

/**
 * Joins those who use the store of a data folder: where the tests are run on shared stores, over KV Connect; else each
 * server opens the file itself.
 */
export async function joinStore(data: string): Promise<Membership> {
  if (denokvProgram() === undefined) return ALONE;
  const shared = stores.get(data) ?? { denokv: start(data), members: 0 };
  stores.set(data, shared);
  shared.members++;
  let isMember = true;
  const leave = async (): Promise<void> => {
    if (!isMember) return;
    isMember = false;
    if (--shared.members > 0) return;
    stores.delete(data);
    await (await shared.denokv).stop();
  };
  const { url } = await shared.denokv;
  const env = { DENO_KV_ACCESS_TOKEN: DENOKV_TOKEN };
  return { isShared: true, args: ["--kv", url], env, leave };
}

async function start(data: string): Promise<Denokv> {
  await Deno.mkdir(data, { recursive: true });
  return await Denokv.start(join(data, "kvdrive.db"));
}

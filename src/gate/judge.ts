import type { AppInfo } from "../store/app_store.ts";
import type { Store } from "../store/store.ts";
import type { Credentials } from "./credentials.ts";

/** Whether somebody is let in to an application, and as whom: `key` is the prefix of the key, or `session`. */
export type Judgement =
  | { allowed: true; caller: "anyone" | "owner" | "session" | "preflight"; key?: string }
  | { allowed: true; caller: "key"; key?: string; keyName: string }
  | { allowed: false; sentKey: boolean };

/** The parts of the store that know who may come in. */
export type AccessStore = Pick<Store, "appKeys" | "keys" | "sessions">;

const ANYONE: Judgement = { allowed: true, caller: "anyone" };

/**
 * "While access control is off, everyone gets in. While it is on: a key of the application in `X-API-Key`, or the owner:
 * the project key in that header, or a browser that signed in with it." Keys are looked up by the SHA-256 of the whole,
 * which says nothing of what differs.
 */
export async function judge(
  store: AccessStore,
  credentials: () => Credentials,
  { project, app, access }: AppInfo,
): Promise<Judgement> {
  if (!access) return ANYONE;
  const { key, sessions, isOverlong } = credentials();
  if (key?.isProjectKey) {
    const owner = await store.keys.opens(key.hash);
    if (owner?.project === project) return { allowed: true, caller: "owner", key: owner.prefix };
  } else if (key !== undefined) {
    const found = await store.appKeys.find(key.hash);
    if (found?.project === project && found.app === app) {
      return { allowed: true, caller: "key", key: found.prefix, keyName: found.name };
    }
  }
  for (const hash of sessions) {
    const session = await store.sessions.find(hash);
    if (session?.project === project && session.app === app) {
      return { allowed: true, caller: "session", key: "session" };
    }
  }
  return { allowed: false, sentKey: key !== undefined || isOverlong };
}

/** The name of a key as a header can hold it: what is not plain ASCII, and what would be trimmed, is percent-encoded. */
export function keyNameHeader(name: string): string {
  const encoded = encodeURI(name);
  return name.trim() === name ? encoded.replaceAll("%20", " ") : encoded;
}

import {
  type Credentials,
  keyCredentials,
  parseCredentials,
  tokenCredentials,
} from "../../client/credentials.ts";
import type { Arguments } from "../options/command.ts";
import { CommandError, type Environment, UsageError } from "../terminal/output.ts";
import { type Profile, ProfileFile, requireProfile, requireProfileName } from "./profile_file.ts";

/** A server that was chosen, and what opens it. */
export interface ServerChoice {
  url: string;
  credentials: Credentials | undefined;
  /** The file with certificates of further authorities to trust. */
  cacert: string | undefined;
  /** The name of the profile that the address is from; `undefined` if it is from an option or the environment. */
  profile: string | undefined;
}

/**
 * Returns the server that the options, the environment or the current profile name, in this order; `undefined` if none
 * of them does. A secret of a profile is for the address of that profile only.
 *
 * @param readSecret Reads the file of `--key-file`.
 */
export async function chooseServer(
  args: Pick<Arguments, "get">,
  env: Environment,
  readSecret: (path: string) => Promise<string>,
): Promise<ServerChoice | undefined> {
  const named = args.get("profile");
  if (named !== undefined) requireProfileName(named);
  const given = args.get("url") ??
    (named === undefined ? env["KVDRIVE_URL"] || undefined : undefined);
  const own = await ownSecret(args, named === undefined ? env : {}, readSecret);
  // With an address and a secret the profiles do not matter, not even a damaged file of them.
  const isComplete = given !== undefined && own !== undefined && named === undefined;
  const found = isComplete ? undefined : await currentProfile(env, named);
  const url = given ?? found?.profile.url;
  if (url === undefined) return undefined;
  const isOfProfile = found !== undefined && isSameServer(url, found.profile.url);
  return {
    url,
    credentials: own ?? (isOfProfile ? credentialsOf(found.profile) : undefined),
    cacert: args.get("cacert") ?? (isOfProfile ? found.profile.cacert : undefined),
    profile: isOfProfile ? found.name : undefined,
  };
}

/** Returns the secret of a profile. */
export function credentialsOf({ project_key, admin_token }: Profile): Credentials | undefined {
  return project_key === undefined
    ? tokenCredentials(admin_token ?? "")
    : keyCredentials(project_key);
}

/** Returns the secret of `--key-file` or of `KVDRIVE_KEY`; `undefined` if neither is given. */
export async function ownSecret(
  args: Pick<Arguments, "get">,
  env: Environment,
  readSecret: (path: string) => Promise<string>,
): Promise<Credentials | undefined> {
  const file = args.get("key-file");
  const text = file === undefined ? env["KVDRIVE_KEY"] ?? "" : (await readSecret(file)).trim();
  if (text === "" && file === undefined) return undefined;
  const credentials = parseCredentials(text);
  if (credentials !== undefined) return credentials;
  throw new CommandError(
    "The project key must look like <project id>_<secret>, as the server printed it. Check KVDRIVE_KEY or the file of --key-file",
  );
}

/** The error of a command that needs a secret and has none. */
export function noSecret(): UsageError {
  return new UsageError(
    "No project key: set the variable KVDRIVE_KEY, give a file that contains it with --key-file, or run kvdrive login",
  );
}

async function currentProfile(
  env: Environment,
  named: string | undefined,
): Promise<{ name: string; profile: Profile } | undefined> {
  const all = await new ProfileFile(env).read();
  const name = named ?? all.current;
  return name === undefined ? undefined : { name, profile: requireProfile(all, name) };
}

function isSameServer(one: string, other: string): boolean {
  const normal = (url: string) => URL.canParse(url) ? new URL(url).href.replace(/\/+$/, "") : url;
  return normal(one) === normal(other);
}

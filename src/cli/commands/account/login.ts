import { resolve } from "@std/path/resolve";
import { type Credentials, keyCredentials, tokenCredentials } from "../../../client/connection.ts";
import { describeIdentity, type Identity, readIdentity } from "../../../client/administration.ts";
import { hasStatus } from "../../../client/errors.ts";
import {
  credentialsOf,
  DEFAULT_PROFILE,
  type Profile,
  ProfileFile,
  requireProfile,
  requireProfileName,
} from "./profile_file.ts";
import { CommandError, UsageError } from "../../terminal/output.ts";
import { readSecret } from "../../terminal/prompt.ts";
import type { CommandCall } from "../command_call.ts";
import { chooseServer, connectTo } from "../connect.ts";

/** `kvdrive login URL`: asks the server what a secret is, and saves it as the current profile. */
export async function login(call: CommandCall): Promise<void> {
  const name = call.get("profile") ?? DEFAULT_PROFILE;
  requireProfileName(name);
  const url = normalUrl(call.required("URL"));
  const file = new ProfileFile(call.env);
  // An unusable file is reported before anything is typed.
  await file.read();
  const secret = readSecret(`Project key or administrator's token of ${url}: `);
  if (secret === "") throw new UsageError("No key: type it, or give it on standard input");
  const { credentials, identity } = await identify(url, secret, call);
  const cacert = call.get("cacert");
  const profile: Profile = {
    url,
    ...(credentials.kind === "key" ? { project_key: secret } : { admin_token: secret }),
    ...(cacert === undefined ? {} : { cacert: resolve(cacert) }),
  };
  await file.update(({ profiles }) => ({
    current: name,
    profiles: new Map([...profiles, [name, profile]]),
  }));
  call.print({ profile: name, url, ...identity }, [
    `Logged in to ${url} with ${describeLogin(identity)}.`,
    `Saved as the profile ${name}, which commands now use, in ${file.path}.`,
  ]);
}

export async function showIdentity(call: CommandCall): Promise<void> {
  const { args, env } = call;
  const choice = await chooseServer(args, env);
  using connection = await connectTo(choice, args, env);
  const identity = await readIdentity(connection, connection.credentials);
  const { url, profile = null } = choice;
  call.print({ profile, url, ...identity }, [
    `Server:   ${url}`,
    `Profile:  ${profile ?? "none: the options or the environment name the server"}`,
    `Access:   ${describeIdentity(identity)}`,
  ]);
}

function describeLogin(identity: Identity): string {
  return identity.administrator
    ? "the administrator's token, which opens all projects"
    : describeIdentity(identity);
}

/** Asks the server for each kind of secret that a text can be: a token may look like a key. */
async function identify(
  url: string,
  secret: string,
  { args, env }: CommandCall,
): Promise<{ credentials: Credentials; identity: Identity }> {
  const kinds = [keyCredentials(secret), tokenCredentials(secret)].filter((one) =>
    one !== undefined
  );
  let refusal: Error = new CommandError(
    "That is no key: a project key looks like <project id>_<secret>, and a token has at least 22 characters without spaces",
  );
  for (const credentials of kinds) {
    const choice = { url, credentials, cacert: args.get("cacert") };
    using connection = await connectTo(choice, args, env);
    try {
      return { credentials, identity: await readIdentity(connection, credentials) };
    } catch (error) {
      if (!hasStatus(error, 401)) throw error;
      refusal = new CommandError(
        `${url} does not know that key: copy it again, or create one with kvdrive key create`,
      );
    }
  }
  throw refusal;
}

/** @throws {UsageError} if a text is no address. */
function normalUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable = url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" &&
    url.password === "" && url.search === "" && url.hash === "";
  if (isUsable) return url.href.replace(/\/+$/, "");
  throw new UsageError(
    "Bad server address: it must look like https://files.example.com:8000, with http:// or https://, without a user or query",
  );
}

/** `kvdrive profile list`, without secrets. */
export async function listProfiles(call: CommandCall): Promise<void> {
  const { current, profiles } = await new ProfileFile(call.env).read();
  const rows = [...profiles].map(([name, profile]) => {
    const credentials = credentialsOf(profile);
    return {
      name,
      url: profile.url,
      project_id: credentials?.kind === "key" ? credentials.project : null,
      administrator: credentials?.kind === "token",
      current: name === current,
    };
  });
  call.printTable(
    { profiles: rows },
    ["NAME", "URL", "PROJECT", "CURRENT"],
    rows.map(({ name, url, project_id, current }) => [
      name,
      url,
      project_id ?? "(administrator)",
      current ? "yes" : null,
    ]),
    "There are no profiles: make one with kvdrive login.",
  );
}

export async function chooseProfile(call: CommandCall): Promise<void> {
  const name = call.required("NAME");
  requireProfileName(name);
  let url = "";
  await new ProfileFile(call.env).update((all) => {
    url = requireProfile(all, name).url;
    return { ...all, current: name };
  });
  call.print({ profile: name, url }, [`Commands now talk to ${url}.`]);
}

/** `kvdrive logout`: removes a profile. The key itself stays valid. */
export async function logout(call: CommandCall): Promise<void> {
  const named = call.get("profile");
  if (named !== undefined) requireProfileName(named);
  let name = "";
  let url = "";
  await new ProfileFile(call.env).update((all) => {
    name = named ?? all.current ?? "";
    if (name === "") {
      throw new CommandError("There is no current profile: see kvdrive profile list");
    }
    url = requireProfile(all, name).url;
    const profiles = new Map(all.profiles);
    profiles.delete(name);
    return { current: all.current === name ? undefined : all.current, profiles };
  });
  call.print({ profile: name, url }, [
    `The profile ${name} of ${url} is removed. Its key stays valid until it is revoked.`,
  ]);
}

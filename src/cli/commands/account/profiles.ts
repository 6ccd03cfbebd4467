import type { Arguments } from "../../options/command.ts";
import { credentialsOf, ProfileFile, requireProfile, requireProfileName } from "./profile_file.ts";
import { CommandError, type Environment } from "../../terminal/output.ts";
import { CommandCall } from "../command_call.ts";

/** `kvdrive profile list`, without secrets. */
export async function listProfiles(args: Arguments, env: Environment): Promise<void> {
  const { current, profiles } = await new ProfileFile(env).read();
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
  new CommandCall(args, env).printTable(
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

export async function chooseProfile(args: Arguments, env: Environment): Promise<void> {
  const name = args.get("NAME") ?? "";
  requireProfileName(name);
  let url = "";
  await new ProfileFile(env).update((all) => {
    url = requireProfile(all, name).url;
    return { ...all, current: name };
  });
  new CommandCall(args, env).print({ profile: name, url }, [`Commands now talk to ${url}.`]);
}

/** `kvdrive logout`: removes a profile. The key itself stays valid. */
export async function logout(args: Arguments, env: Environment): Promise<void> {
  const named = args.get("profile");
  if (named !== undefined) requireProfileName(named);
  let name = "";
  let url = "";
  await new ProfileFile(env).update((all) => {
    name = named ?? all.current ?? "";
    if (name === "") {
      throw new CommandError("There is no current profile: see kvdrive profile list");
    }
    url = requireProfile(all, name).url;
    const profiles = new Map(all.profiles);
    profiles.delete(name);
    return { current: all.current === name ? undefined : all.current, profiles };
  });
  new CommandCall(args, env).print({ profile: name, url }, [
    `The profile ${name} of ${url} is removed. Its key stays valid until it is revoked.`,
  ]);
}

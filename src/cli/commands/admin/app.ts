import type { AppJson, AppKeyJson } from "../../../api/admin/json.ts";
import type { Administration } from "../../../client/administration.ts";
import { upstreamProblem } from "../../../rules/hosts.ts";
import { appNameProblem, descriptionProblem, keyNameProblem } from "../../../rules/names.ts";
import { CommandError, UsageError } from "../../terminal/output.ts";
import { plural } from "../../terminal/text.ts";
import { SecretFile } from "../secret_file.ts";
import type { CommandCall } from "../command_call.ts";

/** The value that removes a setting. */
const NONE = "none";

/** Returns the path of an application, or of something in it. */
function pathOf(project: string, app: string, ...more: string[]): string[] {
  return ["projects", project, "apps", app, ...more];
}

export async function createApp(call: CommandCall): Promise<void> {
  const { project } = call;
  call.validate("NAME", appNameProblem);
  call.validate("upstream", upstreamProblem);
  const enabled = call.has("protect");
  const app = await call.administer((on) =>
    on.create<AppJson>(["projects", project, "apps"], {
      name: call.required("NAME"),
      upstream: call.required("upstream"),
      host: call.get("host")?.toLowerCase(),
      access: { enabled },
    })
  );
  const state = enabled
    ? `It requires a key: create one with kvdrive app-key create ${project} ${app.name}.`
    : `It is open to everyone: protect it with kvdrive access on ${project} ${app.name}.`;
  const created = `The application ${app.name} of the project ${project} is registered.`;
  call.print(app, [`${created} ${state}`]);
}

export async function listApps(call: CommandCall): Promise<void> {
  const { project } = call;
  const { apps } = await call.administer((on) =>
    on.get<{ apps: AppJson[] }>(["projects", project, "apps"])
  );
  const rows = apps.map(({ name, access, upstream, host, created }) => {
    return [name, access.enabled ? "on" : "off", upstream, host, created];
  });
  const headings = ["NAME", "ACCESS CONTROL", "UPSTREAM", "HOST", "CREATED"];
  call.printTable({ apps }, headings, rows, `The project ${project} has no applications.`);
}

export async function showApp(call: CommandCall): Promise<void> {
  const { project } = call;
  const app = await call.administer((on) =>
    on.get<AppJson>(pathOf(project, call.required("NAME")))
  );
  call.print(app, linesOf(app));
}

export async function changeApp(call: CommandCall): Promise<void> {
  const { project } = call;
  const [upstream, host] = [call.get("upstream"), call.get("host")];
  if (upstream === undefined && host === undefined) {
    throw new UsageError("Nothing to change: give --upstream, --host or both");
  }
  if (upstream !== NONE) call.validate("upstream", upstreamProblem);
  const changes = {
    ...(upstream === undefined ? {} : { upstream: upstream === NONE ? null : upstream }),
    ...(host === undefined ? {} : { host: host === NONE ? null : host.toLowerCase() }),
  };
  const app = await call.administer((on) =>
    on.set<AppJson>("PATCH", pathOf(project, call.required("NAME")), changes)
  );
  call.print(app, linesOf(app));
}

function linesOf({ name, upstream, host, access, created }: AppJson): string[] {
  return [
    `Name:            ${name}`,
    `Upstream:        ${upstream ?? NONE}`,
    `Host name:       ${host ?? NONE}`,
    `Access control:  ${access.enabled ? "on" : "off"}`,
    `Created:         ${created}`,
  ];
}

export async function deleteApp(call: CommandCall): Promise<void> {
  const { project } = call;
  const name = call.required("NAME");
  await call.administer(async (on) => {
    const keys = plural((await keysOf(on, project, name)).length, "API key");
    call.confirm(`Delete the application ${name} of the project ${project} with its ${keys}?`);
    await on.delete(...pathOf(project, name));
  });
  call.print({ name }, [
    `The application ${name} is deleted. Running servers follow within 5 seconds.`,
  ]);
}

export async function protectApp(call: CommandCall): Promise<void> {
  await switchAccess(call, true);
}

export async function openApp(call: CommandCall): Promise<void> {
  await switchAccess(call, false);
}

async function switchAccess(call: CommandCall, enabled: boolean): Promise<void> {
  const { project } = call;
  const app = call.required("APP");
  await call.administer((on) => on.set("PUT", pathOf(project, app, "access"), { enabled }));
  const effect = enabled
    ? "is on: requests need a key or the owner's session"
    : "is off: every request is allowed. Its keys are kept";
  call.print({ enabled }, [
    `Access control of ${app} ${effect}. Running servers follow within 5 seconds.`,
  ]);
}

export async function createAppKey(call: CommandCall): Promise<void> {
  call.validate("name", keyNameProblem);
  call.validate("desc", descriptionProblem);
  const path = call.get("outfile");
  const { api_key, ...key } = await call.administer((on) =>
    path === undefined ? createKey(call, on) : createKeyFile(path, call, on)
  );
  if (path !== undefined) {
    return call.print(key, [
      `The API key ${key.prefix} was written to ${path}. It is stored nowhere else.`,
    ]);
  }
  const { created, ...rest } = key;
  call.print({ ...rest, api_key, created }, [
    `API key:  ${api_key}`,
    "",
    "The key is shown only once: store it like a password.",
  ]);
}

type CreatedKey = AppKeyJson & { api_key: string };

async function createKey(call: CommandCall, on: Administration): Promise<CreatedKey> {
  const key = { name: call.required("name"), description: call.get("desc") };
  return await on.create(pathOf(call.project, call.required("APP"), "keys"), key);
}

/** Creates a key in a new file. The file is created first, so that no key exists without it. */
async function createKeyFile(
  path: string,
  call: CommandCall,
  on: Administration,
): Promise<CreatedKey> {
  const app = call.required("APP");
  await on.get(pathOf(call.project, app));
  using file = await SecretFile.create(path);
  let made: CreatedKey | undefined;
  try {
    made = await createKey(call, on);
    await file.write(made.api_key);
    return made;
  } catch (error) {
    if (made !== undefined) await on.delete(...pathOf(call.project, app, "keys", made.name));
    await file.discard();
    throw error;
  }
}

export async function revokeAppKey(call: CommandCall): Promise<void> {
  const { project } = call;
  const app = call.required("APP");
  const name = call.required("name");
  await call.administer(async (on) => {
    const key = (await keysOf(on, project, app)).find((key) => key.name === name);
    if (key === undefined) {
      // The name is not repeated: it may be the key itself by mistake.
      throw new CommandError(
        `The application ${app} has no key with that name: see kvdrive app-key list ${project} ${app}`,
      );
    }
    call.confirm(`Delete the API key "${name}" (${key.prefix}) of the application ${app}?`);
    await on.delete(...pathOf(project, app, "keys", name));
  });
  call.print({ name }, [
    `The API key "${name}" is deleted. Running servers follow within 5 seconds.`,
  ]);
}

export async function listAppKeys(call: CommandCall): Promise<void> {
  const { project } = call;
  const app = call.required("APP");
  const keys = await call.administer((on) => keysOf(on, project, app));
  const rows = keys.map((key) => [key.name, key.prefix, key.created, key.description]);
  const headings = ["NAME", "PREFIX", "CREATED", "DESCRIPTION"];
  call.printTable({ keys }, headings, rows, `The application ${app} has no keys.`);
}

async function keysOf(on: Administration, project: string, app: string): Promise<AppKeyJson[]> {
  return (await on.get<{ keys: AppKeyJson[] }>(pathOf(project, app, "keys"))).keys;
}

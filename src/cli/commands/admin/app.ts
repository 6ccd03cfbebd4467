import { appJson, appKeyJson } from "../../../api/admin/json.ts";
import { HostRules, upstreamProblem } from "../../../rules/hosts.ts";
import { appNameProblem, descriptionProblem, keyNameProblem } from "../../../rules/names.ts";
import type { AppKeyInfo } from "../../../store/accounts/app_keys.ts";
import type { AppInfo } from "../../../store/accounts/apps.ts";
import { AccessIsOff } from "../../../store/engine/errors.ts";
import type { Store } from "../../../store/store.ts";
import { CommandError } from "../../terminal/output.ts";
import { plural, quoteWord } from "../../terminal/text.ts";
import { requireProject } from "./project.ts";
import { SecretFile } from "../secret_file.ts";
import type { StoreCall } from "../store_call.ts";

/** Returns an application. @throws {CommandError} if there is no such project or application. */
async function requireApp(store: Store, project: string, app: string): Promise<AppInfo> {
  await requireProject(store, project);
  const canBe = appNameProblem(app) === undefined;
  const info = canBe ? await store.apps.get(project, app) : undefined;
  if (info === undefined) throw noSuchApp(project, app);
  return info;
}

function noSuchApp(project: string, app: string): CommandError {
  return new CommandError(
    `The project ${project} has no application ${quoteWord(app)}: see kvdrive app list`,
  );
}

export async function createApp(call: StoreCall): Promise<void> {
  const { project } = call;
  call.validate("NAME", appNameProblem);
  call.validate("upstream", upstreamProblem);
  const host = call.get("host")?.toLowerCase();
  const hosts = await HostRules.load(call.serverNames);
  call.validate("host", (text) => hosts.problemOf(text.toLowerCase()));
  const access = call.has("protect");
  const settings = { upstream: call.required("upstream"), host, access };
  const app = await call.withStore(async (store) => {
    await requireProject(store, project);
    return await store.apps.create(project, call.required("NAME"), settings);
  });
  const state = access
    ? `It requires a key: create one with kvdrive app-key create ${project} ${app.app}.`
    : `It is open to everyone: protect it with kvdrive access on ${project} ${app.app}.`;
  const created = `The application ${app.app} of the project ${project} is registered.`;
  call.print(appJson(app), [`${created} ${state}`]);
}

export async function listApps(call: StoreCall): Promise<void> {
  const { project } = call;
  const found = await call.withStore(async (store) => {
    await requireProject(store, project);
    return await store.apps.list(project);
  });
  const apps = found.map(appJson);
  const rows = apps.map(({ name, access, upstream, host, created }) => {
    return [name, access.enabled ? "on" : "off", upstream, host, created];
  });
  const headings = ["NAME", "ACCESS CONTROL", "UPSTREAM", "HOST", "CREATED"];
  call.printTable({ apps }, headings, rows, `The project ${project} has no applications.`);
}

export async function deleteApp(call: StoreCall): Promise<void> {
  const { project } = call;
  const name = call.required("NAME");
  await call.withStore(async (store) => {
    await requireApp(store, project, name);
    const keys = plural((await store.appKeys.list(project, name)).length, "API key");
    call.confirm(`Delete the application ${name} of the project ${project} with its ${keys}?`);
    if (!await store.apps.delete(project, name)) throw noSuchApp(project, name);
  });
  call.print({ name }, [
    `The application ${name} is deleted. Running servers follow within 5 seconds.`,
  ]);
}

export async function protectApp(call: StoreCall): Promise<void> {
  await switchAccess(call, true);
}

export async function openApp(call: StoreCall): Promise<void> {
  await switchAccess(call, false);
}

async function switchAccess(call: StoreCall, enabled: boolean): Promise<void> {
  const { project } = call;
  const app = call.required("APP");
  await call.withStore(async (store) => {
    await requireApp(store, project, app);
    const changed = await store.apps.update(project, app, { access: enabled });
    if (changed === undefined) throw noSuchApp(project, app);
  });
  const effect = enabled
    ? "is on: requests need a key or the owner's session"
    : "is off: every request is allowed. Its keys are kept";
  call.print({ enabled }, [
    `Access control of ${app} ${effect}. Running servers follow within 5 seconds.`,
  ]);
}

export async function createApiKey(call: StoreCall): Promise<void> {
  const { project } = call;
  call.validate("name", keyNameProblem);
  call.validate("desc", descriptionProblem);
  const path = call.get("outfile");
  const { text, ...info } = await call.withStore(async (store) => {
    await requireApp(store, project, call.required("APP"));
    return await (path === undefined ? createKey(call, store) : createKeyFile(path, call, store));
  });
  const shape = appKeyJson(info);
  if (path !== undefined) {
    return call.print(shape, [
      `The API key ${info.prefix} was written to ${path}. It is stored nowhere else.`,
    ]);
  }
  const { created, ...rest } = shape;
  call.print({ ...rest, api_key: text, created }, [
    `API key:  ${text}`,
    "",
    "The key is shown only once: store it like a password.",
  ]);
}

async function createKey(call: StoreCall, store: Store): Promise<AppKeyInfo & { text: string }> {
  const description = call.get("desc");
  const app = call.required("APP");
  const fields = { name: call.required("name"), ...(description !== undefined && { description }) };
  try {
    return await store.appKeys.create(call.project, app, fields);
  } catch (error) {
    if (!(error instanceof AccessIsOff)) throw error;
    const enable = `turn it on with kvdrive access on ${call.project} ${app}`;
    throw new CommandError(`Access control of ${app} is off: ${enable}`, { cause: error });
  }
}

/** Creates a key in a new file. The file is created first, so that no key exists without it. */
async function createKeyFile(
  path: string,
  call: StoreCall,
  store: Store,
): Promise<AppKeyInfo & { text: string }> {
  using file = await SecretFile.create(path);
  let made: AppKeyInfo & { text: string } | undefined;
  try {
    made = await createKey(call, store);
    await file.write(made.text);
    return made;
  } catch (error) {
    if (made !== undefined) {
      await store.appKeys.revoke(call.project, call.required("APP"), made.name);
    }
    await file.discard();
    throw error;
  }
}

export async function deleteApiKey(call: StoreCall): Promise<void> {
  const { project } = call;
  const app = call.required("APP");
  const name = call.required("name");
  await call.withStore(async (store) => {
    await requireApp(store, project, app);
    const key = (await store.appKeys.list(project, app)).find((key) => key.name === name);
    // The name is not repeated: it may be the key itself by mistake.
    const noSuchKey = new CommandError(
      `The application ${app} has no key with that name: see kvdrive app-key list ${project} ${app}`,
    );
    if (key === undefined) throw noSuchKey;
    call.confirm(`Delete the API key "${name}" (${key.prefix}) of the application ${app}?`);
    if (!await store.appKeys.revoke(project, app, name)) throw noSuchKey;
  });
  call.print({ name }, [
    `The API key "${name}" is deleted. Running servers follow within 5 seconds.`,
  ]);
}

export async function listApiKeys(call: StoreCall): Promise<void> {
  const { project } = call;
  const app = call.required("APP");
  const found = await call.withStore(async (store) => {
    await requireApp(store, project, app);
    return await store.appKeys.list(project, app);
  });
  const keys = found.map(appKeyJson);
  const rows = keys.map((key) => [key.name, key.prefix, key.created, key.description]);
  const headings = ["NAME", "PREFIX", "CREATED", "DESCRIPTION"];
  call.printTable({ keys }, headings, rows, `The application ${app} has no keys.`);
}

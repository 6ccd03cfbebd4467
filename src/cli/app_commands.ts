import { appNameProblem, upstreamProblem } from "../drive/applications.ts";
import { HostRules } from "../drive/hosts.ts";
import { appAnswer } from "../routes/admin/app_answer.ts";
import type { AppInfo } from "../store/app_store.ts";
import type { Store } from "../store/store.ts";
import type { Call } from "./call.ts";
import type { StoreCommand } from "./command.ts";
import { counted, demandProject } from "./project_commands.ts";
import { CommandError } from "./usage_error.ts";
import { quoted } from "./visible.ts";

export const appCommands: readonly StoreCommand[] = [
  {
    name: "app create",
    operands: ["PROJECT", "NAME"],
    options: [
      {
        name: "upstream",
        value: "URL",
        required: true,
        help: "where it runs, such as http://127.0.0.1:3000",
      },
      { name: "host", value: "HOST", help: "a host name of its own, such as app.example.com" },
      { name: "protect", help: "turn access control on at once" },
    ],
    summary: "name an application that is to be protected",
    run: createApp,
  },
  {
    name: "app list",
    operands: ["PROJECT"],
    summary: "list the applications of a project",
    run: listApps,
  },
  {
    name: "app delete",
    operands: ["PROJECT", "NAME"],
    asks: true,
    summary: "forget an application and its keys",
    run: deleteApp,
  },
];

/** @throws {CommandError} where there is no such project, or no such application in it. */
export async function demandApp(store: Store, project: string, app: string): Promise<AppInfo> {
  await demandProject(store, project);
  const canBe = appNameProblem(app) === undefined;
  const info = canBe ? await store.apps.get(project, app) : undefined;
  if (info === undefined) throw noSuchApp(project, app);
  return info;
}

export function noSuchApp(project: string, app: string): CommandError {
  return new CommandError(
    `The project ${project} has no application ${quoted(app)}: see kvdrive app list`,
  );
}

async function createApp(call: Call): Promise<void> {
  const { project } = call;
  call.check("NAME", appNameProblem);
  call.check("upstream", upstreamProblem);
  const host = call.get("host")?.toLowerCase();
  const hosts = await HostRules.load(call.serverNames);
  call.check("host", (text) => hosts.problemOf(text.toLowerCase()));
  const access = call.has("protect");
  const settings = { upstream: call.demand("upstream"), host, access };
  const app = await call.withStore(async (store) => {
    await demandProject(store, project);
    return await store.apps.create(project, call.demand("NAME"), settings);
  });
  const state = access
    ? `Its owner gets in, and who has a key: see kvdrive auth create-api-key ${project} ${app.app}.`
    : `Everyone gets in until kvdrive auth enable ${project} ${app.app}.`;
  call.answer(appAnswer(app), [`The application ${app.app} of ${project} is known. ${state}`]);
}

async function listApps(call: Call): Promise<void> {
  const { project } = call;
  const found = await call.withStore(async (store) => {
    await demandProject(store, project);
    return await store.apps.list(project);
  });
  const apps = found.map(appAnswer);
  const rows = apps.map(({ name, access, upstream, host, created }) => {
    return [name, access.enabled ? "on" : "off", upstream, host, created];
  });
  const headings = ["NAME", "ACCESS CONTROL", "UPSTREAM", "HOST", "CREATED"];
  call.answerTable({ apps }, headings, rows, `The project ${project} has no applications.`);
}

async function deleteApp(call: Call): Promise<void> {
  const { project } = call;
  const name = call.demand("NAME");
  await call.withStore(async (store) => {
    await demandApp(store, project, name);
    const keys = counted((await store.appKeys.list(project, name)).length, "API key");
    call.confirm(`Delete the application ${name} of the project ${project} with its ${keys}?`);
    if (!await store.apps.remove(project, name)) throw noSuchApp(project, name);
  });
  call.answer({ name }, [
    `The application ${name} is deleted. Servers that run know it within 5 seconds.`,
  ]);
}

import { descriptionProblem, keyNameProblem } from "../drive/applications.ts";
import { appKeyAnswer } from "../routes/admin/app_answer.ts";
import type { AppKeyInfo } from "../store/app_key_store.ts";
import { AccessIsOff } from "../store/errors.ts";
import type { Store } from "../store/store.ts";
import { demandApp, noSuchApp } from "./app_commands.ts";
import type { Call } from "./call.ts";
import type { StoreCommand } from "./command.ts";
import { SecretFile } from "./secret_file.ts";
import { CommandError } from "./usage_error.ts";

const operands = ["PROJECT", "APP"];
const name = {
  name: "name",
  short: "n",
  value: "NAME",
  required: true,
  help: "the key's name",
} as const;

export const authCommands: readonly StoreCommand[] = [
  {
    name: "auth enable",
    operands,
    summary: "let nobody in but the owner and holders of a key",
    run: (call) => switchAccess(call, true),
  },
  {
    name: "auth disable",
    operands,
    summary: "let everyone in; the keys are kept for later",
    run: (call) => switchAccess(call, false),
  },
  {
    name: "auth create-api-key",
    operands,
    options: [
      name,
      { name: "desc", short: "d", value: "TEXT", help: "what the key is for" },
      {
        name: "outfile",
        short: "o",
        value: "FILE",
        help: "new file that the key goes to, readable by you alone",
      },
    ],
    summary: "make a key of an application",
    run: createApiKey,
  },
  {
    name: "auth delete-api-key",
    operands,
    options: [name],
    asks: true,
    summary: "make a key of an application open nothing any more",
    run: deleteApiKey,
  },
  {
    name: "auth list-api-keys",
    operands,
    summary: "list the keys of an application, without their secrets",
    run: listApiKeys,
  },
];

async function switchAccess(call: Call, enabled: boolean): Promise<void> {
  const { project } = call;
  const app = call.demand("APP");
  await call.withStore(async (store) => {
    await demandApp(store, project, app);
    const changed = await store.apps.update(project, app, { access: enabled });
    if (changed === undefined) throw noSuchApp(project, app);
  });
  const effect = enabled
    ? "is on: only its owner and holders of its keys get in"
    : "is off: everyone gets in. Its keys are kept for later";
  call.answer({ enabled }, [
    `The access control of ${app} ${effect}. Servers that run know it within 5 seconds.`,
  ]);
}

async function createApiKey(call: Call): Promise<void> {
  const { project } = call;
  call.check("name", keyNameProblem);
  call.check("desc", descriptionProblem);
  const path = call.get("outfile");
  const { text, ...info } = await call.withStore(async (store) => {
    await demandApp(store, project, call.demand("APP"));
    return await (path === undefined ? makeKey(call, store) : makeKeyInto(path, call, store));
  });
  const shape = appKeyAnswer(info);
  if (path !== undefined) {
    return call.answer(shape, [`The API key ${info.prefix} is in ${path}, and nowhere else.`]);
  }
  const { created, ...rest } = shape;
  call.answer({ ...rest, api_key: text, created }, [
    `API key:  ${text}`,
    "",
    "The key is shown once: keep it as you keep passwords.",
  ]);
}

async function makeKey(call: Call, store: Store): Promise<AppKeyInfo & { text: string }> {
  const description = call.get("desc");
  const app = call.demand("APP");
  const fields = { name: call.demand("name"), ...(description !== undefined && { description }) };
  try {
    return await store.appKeys.create(call.project, app, fields);
  } catch (error) {
    if (!(error instanceof AccessIsOff)) throw error;
    const enable = `enable it first with kvdrive auth enable ${call.project} ${app}`;
    throw new CommandError(`The access control of ${app} is off: ${enable}`, { cause: error });
  }
}

/** Makes the file before the key, so that there is never a key without the file that was to hold it. */
async function makeKeyInto(
  path: string,
  call: Call,
  store: Store,
): Promise<AppKeyInfo & { text: string }> {
  using file = await SecretFile.make(path);
  let made: AppKeyInfo & { text: string } | undefined;
  try {
    made = await makeKey(call, store);
    await file.write(made.text);
    return made;
  } catch (error) {
    if (made !== undefined) await store.appKeys.revoke(call.project, call.demand("APP"), made.name);
    await file.discard();
    throw error;
  }
}

async function deleteApiKey(call: Call): Promise<void> {
  const { project } = call;
  const app = call.demand("APP");
  const name = call.demand("name");
  await call.withStore(async (store) => {
    await demandApp(store, project, app);
    const key = (await store.appKeys.list(project, app)).find((key) => key.name === name);
    // The name is not repeated: somebody may have put the key in its place.
    const noSuchKey = new CommandError(
      `The application ${app} has no key of that name: see kvdrive auth list-api-keys ${project} ${app}`,
    );
    if (key === undefined) throw noSuchKey;
    call.confirm(`Delete the API key "${name}" (${key.prefix}) of the application ${app}?`);
    if (!await store.appKeys.revoke(project, app, name)) throw noSuchKey;
  });
  call.answer({ name }, [
    `The API key "${name}" is deleted. Servers that run know it within 5 seconds.`,
  ]);
}

async function listApiKeys(call: Call): Promise<void> {
  const { project } = call;
  const app = call.demand("APP");
  const found = await call.withStore(async (store) => {
    await demandApp(store, project, app);
    return await store.appKeys.list(project, app);
  });
  const keys = found.map(appKeyAnswer);
  const rows = keys.map((key) => [key.name, key.prefix, key.created, key.description]);
  const headings = ["NAME", "PREFIX", "CREATED", "DESCRIPTION"];
  call.answerTable({ keys }, headings, rows, `The application ${app} has no keys.`);
}

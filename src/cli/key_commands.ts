import { keyNameProblem } from "../drive/applications.ts";
import { isoSeconds } from "../drive/iso_time.ts";
import { KEY_PREFIX } from "../drive/limits.ts";
import type { Call } from "./call.ts";
import type { StoreCommand } from "./command.ts";
import { demandProject, noSuchProject } from "./project_commands.ts";
import { CommandError } from "./usage_error.ts";

const NAME = { name: "name", short: "n", value: "NAME", help: "what the key is for" } as const;

export const keyCommands: readonly StoreCommand[] = [
  {
    name: "key create",
    operands: ["PROJECT"],
    options: [NAME],
    summary: "make another key of a project",
    run: createKey,
  },
  {
    name: "key list",
    operands: ["PROJECT"],
    summary: "list the keys of a project by their prefixes",
    run: listKeys,
  },
  {
    name: "key revoke",
    operands: ["PROJECT", "PREFIX"],
    asks: true,
    summary: "make a key open nothing any more",
    run: revokeKey,
  },
];

async function createKey(call: Call): Promise<void> {
  const { project } = call;
  call.check("name", keyNameProblem);
  const made = await call.withStore((store) => store.keys.createKey(project, call.get("name")));
  if (made === undefined) throw noSuchProject(project);
  const { key, prefix, name = null, created } = made;
  call.answer({ name, prefix, project_key: key.text, created: isoSeconds(created) }, [
    `Project key:  ${key.text}`,
    "",
    "The key is shown once: keep it as you keep passwords.",
  ]);
}

async function listKeys(call: Call): Promise<void> {
  const { project } = call;
  const found = await call.withStore(async (store) => {
    await demandProject(store, project);
    return await store.keys.listKeys(project);
  });
  const keys = found.map(({ prefix, name = null, created }) => {
    return { prefix, name, created: isoSeconds(created) };
  });
  const rows = keys.map(({ prefix, name, created }) => [prefix, name, created]);
  const ifEmpty = `The project ${project} has no keys.`;
  call.answerTable({ keys }, ["PREFIX", "NAME", "CREATED"], rows, ifEmpty);
}

async function revokeKey(call: Call): Promise<void> {
  const { project } = call;
  // What has another length may be a whole key, which no message repeats.
  call.check("PREFIX", ({ length }) => length === KEY_PREFIX ? undefined : PREFIX_PROBLEM);
  const prefix = call.demand("PREFIX");
  await call.withStore(async (store) => {
    await demandProject(store, project);
    const keys = await store.keys.listKeys(project);
    const key = keys.find((key) => key.prefix === prefix);
    const noSuchKey = new CommandError(
      `The project ${project} has no key with the prefix "${prefix}": see kvdrive key list`,
    );
    if (key === undefined) throw noSuchKey;
    const name = key.name === undefined ? "" : ` ("${key.name}")`;
    const others = keys.length === 1 ? ", which has no other" : "";
    call.confirm(`Revoke the key ${prefix}${name} of the project ${project}${others}?`);
    if (!await store.keys.revokeKey(project, prefix)) throw noSuchKey;
  });
  call.answer({ prefix }, [
    `The key ${prefix} is revoked. Servers that run know it within 5 seconds.`,
  ]);
}

const PREFIX_PROBLEM = `must be the ${KEY_PREFIX} characters that kvdrive key list shows`;

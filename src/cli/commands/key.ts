import { isoSeconds } from "../../rules/dates.ts";
import { keyNameProblem } from "../../rules/names.ts";
import { hashSecret, KEY_PREFIX_LENGTH, newSecret } from "../../rules/secrets.ts";
import { CommandError } from "../terminal/output.ts";
import { noSuchProject, requireProject } from "./project.ts";
import { hasStore, type StoreCall, type StoreCommand } from "./store_command.ts";

const NAME = {
  name: "name",
  short: "n",
  value: "NAME",
  help: "name of the key, for lists",
} as const;

export const keyCommands: readonly StoreCommand[] = [
  {
    name: "key create",
    operands: ["PROJECT"],
    options: [NAME],
    summary: "create another key for a project",
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
    summary: "revoke a key",
    run: revokeKey,
  },
];

async function createKey(call: StoreCall): Promise<void> {
  const { project } = call;
  call.validate("name", keyNameProblem);
  const made = await call.withStore((store) =>
    store.keys.create(project, { name: call.get("name") })
  );
  if (made === undefined) throw noSuchProject(project);
  const { key, prefix, name = null, created } = made;
  call.print({ name, prefix, project_key: key.text, created: isoSeconds(created) }, [
    `Project key:  ${key.text}`,
    "",
    "The key is shown only once: store it like a password.",
  ]);
}

async function listKeys(call: StoreCall): Promise<void> {
  const { project } = call;
  const found = await call.withStore(async (store) => {
    await requireProject(store, project);
    return await store.keys.list(project);
  });
  const keys = found.map(({ prefix, name = null, created }) => {
    return { prefix, name, created: isoSeconds(created) };
  });
  const rows = keys.map(({ prefix, name, created }) => [prefix, name, created]);
  const ifEmpty = `The project ${project} has no keys.`;
  call.printTable({ keys }, ["PREFIX", "NAME", "CREATED"], rows, ifEmpty);
}

async function revokeKey(call: StoreCall): Promise<void> {
  const { project } = call;
  // A value of another length may be a whole key, which is not repeated.
  call.validate(
    "PREFIX",
    ({ length }) => length === KEY_PREFIX_LENGTH ? undefined : PREFIX_PROBLEM,
  );
  const prefix = call.required("PREFIX");
  await call.withStore(async (store) => {
    await requireProject(store, project);
    const keys = await store.keys.list(project);
    const key = keys.find((key) => key.prefix === prefix);
    const noSuchKey = new CommandError(
      `The project ${project} has no key with the prefix "${prefix}": see kvdrive key list`,
    );
    if (key === undefined) throw noSuchKey;
    const name = key.name === undefined ? "" : ` ("${key.name}")`;
    const others = keys.length === 1 ? ", which has no other key" : "";
    call.confirm(`Revoke the key ${prefix}${name} of the project ${project}${others}?`);
    if (!await store.keys.revoke(project, prefix)) throw noSuchKey;
  });
  call.print({ prefix }, [
    `The key ${prefix} is revoked. Running servers refuse it within 5 seconds.`,
  ]);
}

/** What a prefix must be, as the end of a sentence. */
const PREFIX_PROBLEM = `must be the ${KEY_PREFIX_LENGTH} characters that kvdrive key list shows`;

export const adminTokenCommand: StoreCommand = {
  name: "admin-token reset",
  asks: true,
  makesStore: true,
  summary: "replace the administrator's token",
  run: resetAdminToken,
};

async function resetAdminToken(call: StoreCall): Promise<void> {
  call.confirm(
    call.kv !== undefined || await hasStore(call.data)
      ? "Replace the administrator's token? The current one stops working."
      : `Create a new store in ${call.data}, with an administrator's token?`,
  );
  const token = newSecret();
  await call.withStore((store) => store.adminToken.set(hashSecret(token)));
  call.print({ admin_token: token }, [
    `Administrator's token:  ${token}`,
    "",
    "The token is shown only once: store it like a password. Running servers accept it within 5 seconds.",
  ]);
}

export const linkKeyCommand: StoreCommand = {
  name: "link rotate-key",
  asks: true,
  summary: "revoke all links of all projects, by a new signing key",
  run: rotateLinkKey,
};

async function rotateLinkKey(call: StoreCall): Promise<void> {
  call.confirm("Revoke all links of all projects? Their addresses never open anything again.");
  await call.withStore((store) => store.links.rotateKey());
  call.print({ revoked: "all" }, [
    "All links are revoked. Running servers refuse them within 5 seconds.",
  ]);
}

import { isoSeconds } from "../../../rules/dates.ts";
import { keyNameProblem } from "../../../rules/names.ts";
import { KEY_PREFIX_LENGTH } from "../../../rules/secrets.ts";
import { CommandError } from "../../terminal/output.ts";
import { noSuchProject, requireProject } from "./project.ts";
import type { StoreCall } from "../store_call.ts";

export async function createKey(call: StoreCall): Promise<void> {
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

export async function listKeys(call: StoreCall): Promise<void> {
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

export async function revokeKey(call: StoreCall): Promise<void> {
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

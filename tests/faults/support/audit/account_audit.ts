import { type Entry, rest, textOfKey } from "./entries.ts";

type Entries = Map<string, Entry[]>;

/** What the records of keys and applications say, as far as the audit needs it. */
interface AccountValue {
  project: string;
  app: string;
  name: string;
  prefix: string;
  host?: string;
}

/** The kinds of entries that are about who may come in. */
export const ACCOUNT_KINDS = [
  "admin_token",
  "app",
  "app_host",
  "app_key",
  "app_key_name",
  "app_key_prefix",
  "project",
  "project_key",
  "project_key_prefix",
  "recounted",
  "removal",
  "session",
];

/** Keys and applications belong to what is there, and every index has exactly what it is of. */
export function* accountProblems(entries: Entries): Generator<string> {
  // What is being removed is there in part.
  if (all(entries, "removal").length > 0) return;
  const projects = idsOf(entries, "project");
  const apps = idsOf(entries, "app");
  for (const kind of ["app", "project_key_prefix", "file", "usage", "upload"]) {
    for (const entry of all(entries, kind)) {
      if (!projects.has(rest(entry, 2))) yield `No project has the ${kind} ${rest(entry)}`;
    }
  }
  for (const kind of ["app_key_name", "app_key_prefix"]) {
    for (const entry of all(entries, kind)) {
      if (!apps.has(rest(entry, 3))) yield `No application has the ${kind} ${rest(entry)}`;
    }
  }
  yield* indexProblems(entries, "project_key_prefix", "project_key", (value, hash) => {
    return [textOfKey(value.project, value.prefix), hash];
  });
  yield* indexProblems(entries, "app_key_name", "app_key", (value, hash) => {
    return [textOfKey(value.project, value.app, value.name), hash];
  });
  yield* indexProblems(entries, "app_key_prefix", "app_key", (value, hash) => {
    return [textOfKey(value.project, value.app, value.prefix), hash];
  });
  yield* hostProblems(entries);
}

/** Both ways: nothing is missing in an index, and nothing is in it that is not there. */
function* indexProblems(
  entries: Entries,
  index: string,
  kind: string,
  entryOf: (value: AccountValue, hash: string) => [key: string, value: string],
): Generator<string> {
  const wanted = new Map(
    all(entries, kind).map(({ key, value }) => entryOf(value as AccountValue, String(key[1]))),
  );
  for (const entry of all(entries, index)) {
    if (wanted.get(rest(entry)) !== entry.value) yield `The ${index} ${rest(entry)} leads nowhere`;
    wanted.delete(rest(entry));
  }
  for (const key of wanted.keys()) yield `The ${index} ${key} is missing`;
}

function* hostProblems(entries: Entries): Generator<string> {
  const owners = new Map<string, string>();
  for (const app of all(entries, "app")) {
    const { host } = app.value as AccountValue;
    if (host !== undefined) owners.set(textOfKey(host), rest(app));
  }
  for (const entry of all(entries, "app_host")) {
    const { project, app } = entry.value as AccountValue;
    const isRight = owners.get(rest(entry)) === textOfKey(project, app);
    if (!isRight) yield `The host name ${rest(entry)} leads nowhere`;
    owners.delete(rest(entry));
  }
  for (const host of owners.keys()) yield `The host name ${host} is missing`;
}

function all(entries: Entries, kind: string): readonly Entry[] {
  return entries.get(kind) ?? [];
}

function idsOf(entries: Entries, kind: string): Set<string> {
  return new Set(all(entries, kind).map((entry) => rest(entry)));
}

import { type Entry, rest, textOfKey } from "./entries.ts";

type Entries = Map<string, Entry[]>;

/** The fields of key and application records that the audit needs. */
interface AccountValue {
  project: string;
  app: string;
  name: string;
  prefix: string;
  host?: string;
}

/** The index entry of a grant. */
interface GrantIndex {
  hash: string;
  expires: number;
  project?: string;
}

/** The kinds of entries about accounts and access. */
export const ACCOUNT_KINDS = [
  "admin_token",
  "app",
  "app_host",
  "app_key",
  "app_key_name",
  "app_key_prefix",
  "daily_usage",
  "event",
  "grant",
  "grant_of",
  "project",
  "project_key",
  "project_key_prefix",
  "project_key_use",
  "recounted",
  "removal",
  "s3_key",
  "s3_key_of",
  "s3_key_use",
  "server_daily_usage",
  "server_event",
  "session",
  "usage_history",
];

/** Finds keys and applications without an owner, and differences between indexes and records. */
export function* accountProblems(entries: Entries): Generator<string> {
  // Entries of a running removal are incomplete.
  if (all(entries, "removal").length > 0) return;
  const projects = idsOf(entries, "project");
  const apps = idsOf(entries, "app");
  const kinds = [
    ...["app", "project_key_prefix", "s3_key_of", "file", "usage", "upload", "event"],
    "daily_usage",
  ];
  for (const kind of kinds) {
    for (const entry of all(entries, kind)) {
      if (!projects.has(rest(entry, 2))) yield `The ${kind} ${rest(entry)} has no project`;
    }
  }
  for (const kind of ["app_key_name", "app_key_prefix"]) {
    for (const entry of all(entries, kind)) {
      if (!apps.has(rest(entry, 3))) yield `The ${kind} ${rest(entry)} has no application`;
    }
  }
  yield* indexProblems(entries, "project_key_prefix", "project_key", (value, hash) => {
    return [textOfKey(value.project, value.prefix), hash];
  });
  const projectKeys = idsOf(entries, "project_key");
  for (const entry of all(entries, "project_key_use")) {
    if (!projectKeys.has(rest(entry))) yield `The project_key_use ${rest(entry)} has no key`;
  }
  yield* s3KeyProblems(entries);
  yield* indexProblems(entries, "app_key_name", "app_key", (value, hash) => {
    return [textOfKey(value.project, value.app, value.name), hash];
  });
  yield* indexProblems(entries, "app_key_prefix", "app_key", (value, hash) => {
    return [textOfKey(value.project, value.app, value.prefix), hash];
  });
  yield* hostProblems(entries);
  yield* grantProblems(entries);
  const copies = idsOf(entries, "server_event");
  for (const event of all(entries, "event")) {
    if (!copies.has(textOfKey(...event.key.slice(2)))) yield `The event ${rest(event)} has no copy`;
  }
}

/** Compares an index with its records in both directions. */
function* indexProblems(
  entries: Entries,
  index: string,
  kind: string,
  entryOf: (value: AccountValue, hash: string) => [key: string, value: string],
): Generator<string> {
  const expected = new Map(
    all(entries, kind).map(({ key, value }) => entryOf(value as AccountValue, String(key[1]))),
  );
  for (const entry of all(entries, index)) {
    if (expected.get(rest(entry)) !== entry.value) {
      yield `The ${index} ${rest(entry)} has no record`;
    }
    expected.delete(rest(entry));
  }
  for (const key of expected.keys()) yield `The ${index} ${key} is missing`;
}

/** Compares the lists of S3 keys with the keys, and looks for what deletes them. */
function* s3KeyProblems(entries: Entries): Generator<string> {
  const records = new Map(all(entries, "s3_key").map((entry) => [rest(entry), entry.value]));
  for (const entry of all(entries, "s3_key_use")) {
    if (!records.has(rest(entry))) yield `The s3_key_use ${rest(entry)} has no key`;
  }
  const journal = idsOf(entries, "garbage");
  for (const entry of all(entries, "s3_key_of")) {
    const [, project = "", id = ""] = entry.key.map(String);
    const { expires } = entry.value as { expires?: number };
    const record = records.get(textOfKey(id)) as { project: string; expires?: number } | undefined;
    const isCorrect = record?.project === project && record?.expires === expires;
    if (!isCorrect) yield `The s3_key_of ${rest(entry)} has no key`;
    records.delete(textOfKey(id));
    if (expires === undefined) continue;
    const isScheduled = [id, `${id}.index`].every((each) => journal.has(textOfKey(expires, each)));
    if (!isScheduled) yield `The S3 key ${id} would be kept for ever`;
  }
  for (const id of records.keys()) yield `The S3 key ${id} is not listed`;
}

function* hostProblems(entries: Entries): Generator<string> {
  const owners = new Map<string, string>();
  for (const app of all(entries, "app")) {
    const { host } = app.value as AccountValue;
    if (host !== undefined) owners.set(textOfKey(host), rest(app));
  }
  for (const entry of all(entries, "app_host")) {
    const { project, app } = entry.value as AccountValue;
    const isCorrect = owners.get(rest(entry)) === textOfKey(project, app);
    if (!isCorrect) yield `The host name ${rest(entry)} has no application`;
    owners.delete(rest(entry));
  }
  for (const host of owners.keys()) yield `The host name ${host} is missing`;
}

/** Compares the lists of the grants of each credential with the grants, and looks for what deletes them. */
function* grantProblems(entries: Entries): Generator<string> {
  const grants = new Map(all(entries, "grant").map((entry) => [rest(entry), entry]));
  const journal = idsOf(entries, "garbage");
  for (const entry of all(entries, "grant_of")) {
    const { hash, expires, project } = entry.value as GrantIndex;
    const key = textOfKey(String(entry.key[2]), hash);
    const record = grants.get(key)?.value as { id: string; owner: { hash: string } } | undefined;
    const isCorrect = record?.owner.hash === entry.key[1] && record?.id === entry.key[3];
    if (!isCorrect) yield `The grant_of ${rest(entry)} has no grant`;
    grants.delete(key);
    if (project !== undefined && !idsOf(entries, "project").has(textOfKey(project))) {
      yield `The grant_of ${rest(entry)} has no project`;
    }
    const isScheduled = [hash, `${hash}.index`].every((id) => journal.has(textOfKey(expires, id)));
    if (!isScheduled) yield `The grant ${key} would be kept for ever`;
  }
  for (const key of grants.keys()) yield `The grant ${key} is not listed`;
}

function all(entries: Entries, kind: string): readonly Entry[] {
  return entries.get(kind) ?? [];
}

function idsOf(entries: Entries, kind: string): Set<string> {
  return new Set(all(entries, kind).map((entry) => rest(entry)));
}

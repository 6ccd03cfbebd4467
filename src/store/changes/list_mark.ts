import { hashSecret } from "../../rules/secrets.ts";
import { prefixes, ranges } from "../engine/keys.ts";
import type { KvReader } from "../reads/read_queue.ts";

/** The lists of all drives of a project, or of some of them. */
export interface ListScope {
  project: string;
  /** `undefined` for all. */
  drives: readonly string[] | undefined;
}

/** Characters of a mark: enough that no two are the same. */
const MARK_LENGTH = 24;

/**
 * Returns a text that differs after each change of what lists show: files, folders, the trash, uploads and links. It is
 * the same in every process.
 *
 * Each change of a drive adds to one of its counters, if only 0, which gives the counter another versionstamp. Links
 * count nowhere, but the audit log of the project has each that was made or revoked. So no commit writes more for this.
 */
export async function markOf(
  reader: Pick<KvReader, "list">,
  { project, drives }: ListScope,
): Promise<string> {
  const counters = drives === undefined
    ? [prefixes.all("project_usage", project)]
    : drives.map((drive) => prefixes.all("usage", project, drive));
  const seen: string[] = [];
  for (const prefix of counters) {
    for await (const { versionstamp } of reader.list({ prefix })) seen.push(versionstamp);
    seen.push("");
  }
  const events = reader.list(ranges.events(project), { reverse: true, limit: 1, unreadable: true });
  for await (const { key } of events) seen.push(String(key.at(-1)));
  return hashSecret(seen.join()).slice(0, MARK_LENGTH);
}

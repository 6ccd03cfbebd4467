import { all, type Entries, type FileValue, rest } from "./entries.ts";

/** What the journal of digests and the record of the scrub hold. */
interface ScrubValue {
  started: number;
  finished?: number;
  files: number;
  bytes: number;
  damaged: number;
}

/**
 * A file lacks its digest as long as the journal names its version, and nothing else is in there. No file of a store whose
 * disk is sound is damaged.
 */
export function* integrityProblems(entries: Entries): Generator<string> {
  const journal = new Map(all(entries, "undigested").map((one) => [rest(one), one.value]));
  const versions = new Map<string, string>();
  for (const file of all(entries, "file")) {
    const { version, sha256 } = file.value as FileValue;
    versions.set(rest(file), version);
    const named = journal.get(rest(file));
    journal.delete(rest(file));
    if (named !== (sha256 === undefined ? version : undefined)) {
      yield `The journal of digests has ${named} for ${rest(file)} of version ${version}`;
    }
  }
  for (const key of journal.keys()) yield `The journal of digests names ${key}, which is gone`;
  for (const damage of all(entries, "damage")) {
    const { version, problem } = damage.value as { version: string; problem: string };
    if (versions.get(rest(damage)) === version) yield `${rest(damage)} is damaged: ${problem}`;
  }
  for (const { key, value } of all(entries, "scrub")) {
    const { files, bytes, damaged } = value as ScrubValue;
    if (key.length > 1 || damaged > 0 || Math.min(files, bytes) < 0) {
      yield `The scrub says ${JSON.stringify(value)}`;
    }
  }
}

import { all, type Entries, type FileValue, rest } from "./entries.ts";

/** The record of the scrub. */
interface ScrubValue {
  started: number;
  finished?: number;
  files: number;
  bytes: number;
  damaged: number;
}

/**
 * Finds files without a digest that the journal does not name, other entries of the journal, and damaged files, of
 * which a store on a working disk has none.
 */
export function* integrityProblems(entries: Entries): Generator<string> {
  const journal = new Map(all(entries, "undigested").map((one) => [rest(one), one.value]));
  const versions = new Map<string, string>();
  for (const file of all(entries, "file")) {
    const { version, sha256 } = file.value as FileValue;
    versions.set(rest(file), version);
    const journaled = journal.get(rest(file));
    journal.delete(rest(file));
    if (journaled !== (sha256 === undefined ? version : undefined)) {
      yield `The journal of digests has ${journaled} for ${rest(file)} of version ${version}`;
    }
  }
  for (const key of journal.keys()) yield `The journal of digests names the missing file ${key}`;
  for (const damage of all(entries, "damage")) {
    const { version, problem } = damage.value as { version: string; problem: string };
    if (versions.get(rest(damage)) === version) yield `${rest(damage)} is damaged: ${problem}`;
  }
  for (const { key, value } of all(entries, "scrub")) {
    const { files, bytes, damaged } = value as ScrubValue;
    if (key.length > 1 || damaged > 0 || Math.min(files, bytes) < 0) {
      yield `The scrub recorded ${JSON.stringify(value)}`;
    }
  }
}

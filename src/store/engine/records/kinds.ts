import { keys } from "../keys.ts";

/** Builds a key. Its first part, the kind of the entry, does not depend on the other parts. */
type BuildKey = (...parts: unknown[]) => Deno.KvKey;

const ANY_PLACE = { project: "", drive: "", name: "" };

/** Every kind of entry that a store can have. */
export const KINDS: ReadonlySet<string> = new Set(
  [
    ...(Object.values(keys) as unknown as BuildKey[]).map((build) => build(ANY_PLACE)),
    // The figures of all projects together have a kind of their own.
    keys.dailyUsage(undefined, 0),
  ].map(([kind]) => String(kind)),
);

/** The kinds of entries that are counters. What they count can be counted again, or is no loss. */
export const COUNTER_KINDS: readonly string[] = [
  "usage",
  "project_usage",
  "parts_revision",
  "references",
  "webhook_due",
  "link_downloads",
];

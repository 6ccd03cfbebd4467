import { assert } from "@std/assert";
import type { Change, ChangesPage, ChangesQuery } from "../changes/change_feed.ts";
import { DRIVE } from "./bodies.ts";
import type { TestStore } from "./stores.ts";

/** Turns the feeds of the test project on. */
export async function withFeed({ store }: TestStore, changeDays = 7): Promise<void> {
  await store.projects.update(DRIVE.project, { changeDays });
}

/** Returns a page of a feed, by default the first of `DRIVE`. */
export async function pageOf(
  { store }: TestStore,
  query: Partial<ChangesQuery> = {},
): Promise<ChangesPage> {
  const first = { ...DRIVE, prefix: "", since: "0", limit: 1000, maxBytes: 2 ** 20 };
  return await store.changes.page({ ...first, ...query });
}

export async function cursorOf(
  bench: TestStore,
  query: Partial<ChangesQuery> = {},
): Promise<string> {
  return (await pageOf(bench, { ...query, since: undefined })).last;
}

/** Returns changes as short texts: `put a`, `move a -> b`. */
export function textsOf(changes: readonly Change[]): string[] {
  return changes.map((change) => {
    const from = "from" in change && change.from !== undefined ? `${change.from} -> ` : "";
    return `${change.type} ${from}${change.name}`;
  });
}

/** Returns the changes of a feed as short texts, all pages. */
export async function changesOf(
  bench: TestStore,
  query: Partial<ChangesQuery> = {},
): Promise<string[]> {
  return textsOf(await allChanges(bench, query));
}

/** Returns the changes of a feed, all pages. */
export async function allChanges(
  bench: TestStore,
  query: Partial<ChangesQuery> = {},
): Promise<Change[]> {
  const changes: Change[] = [];
  let since = query.since ?? "0";
  while (true) {
    const page = await pageOf(bench, { ...query, since });
    changes.push(...page.changes);
    if (!page.more) return changes;
    assert(page.last !== since, "A page with more changes moves the cursor");
    since = page.last;
  }
}

/** Returns which version each name has after some changes. */
export function replayed(
  changes: readonly Change[],
  start: ReadonlyMap<string, string> = new Map(),
): Map<string, string> {
  const versions = new Map(start);
  for (const change of changes) {
    if (change.type === "delete") {
      versions.delete(change.name);
      continue;
    }
    if (change.from !== undefined) versions.delete(change.from);
    versions.set(change.name, change.etag);
  }
  return versions;
}

import { MAX_LIST } from "../drive/limits.ts";
import { boundedJson } from "../http/bounded_json.ts";
import type { Call } from "../http/drive_call.ts";
import { pagingOf } from "../http/paging.ts";
import type { Deps } from "../http/router.ts";
import type { Listed } from "../store/listing.ts";

/** Bytes that reading an entry and writing it takes, with a name of common length. */
const ENTRY_MEMORY = 1024;

/** `GET /files`: names in the order of their UTF-8 bytes. "At most 1000 names are returned by default." */
export async function listFiles(call: Call, deps: Deps): Promise<Response> {
  const { project, drive, query } = call;
  const limit = Math.min(query.positive("limit") ?? MAX_LIST, MAX_LIST);
  const prefix = query.one("prefix") ?? "";
  const last = query.one("last") ?? "";
  const recursive = query.flag("recursive", true);
  const details = query.flag("details", false);
  const making = { estimate: limit * ENTRY_MEMORY, isRepeatable: true };
  return await boundedJson(call, deps, making, async () => {
    const { entries, more } = await deps.store.list({ project, drive, limit, prefix, last }, {
      recursive,
    });
    const names = entries.map(({ name }) => name);
    return {
      names,
      ...(details ? { files: entries.map(detailsOf) } : {}),
      ...pagingOf(names, more),
    };
  });
}

/** Directories have only their name. */
function detailsOf({ name, record }: Listed): Record<string, unknown> {
  if (record === undefined) return { name };
  return {
    name,
    size: record.size,
    content_type: record.type,
    etag: record.version,
    created: new Date(record.created).toISOString(),
    modified: new Date(record.modified).toISOString(),
  };
}

import { boundedJson, pagingOf } from "../../http/json_response.ts";
import { MAX_LIST } from "../../rules/names.ts";
import type { Listed } from "../../store/files/listing.ts";
import type { DriveCall } from "../drive_call.ts";
import type { Deps } from "../router.ts";

/** Bytes of a page in JSON at which it ends early: more than 1000 names of 1 KiB take, unless most have to be escaped. */
const MAX_PAGE = 4 * 2 ** 20;

/** Bytes that reading an entry and writing it takes, with a name of common length. */
const ENTRY_MEMORY = 1024;

/** `GET /files`: names in the order of their UTF-8 bytes. "At most 1000 names are returned by default." */
export async function listFiles(call: DriveCall, deps: Deps): Promise<Response> {
  const { project, drive, query } = call;
  const limit = Math.min(query.positive("limit") ?? MAX_LIST, MAX_LIST);
  const prefix = query.one("prefix") ?? "";
  const last = query.one("last") ?? "";
  const recursive = query.flag("recursive", true);
  const details = query.flag("details", false);
  const making = { estimate: limit * ENTRY_MEMORY, isRepeatable: true };
  return await boundedJson(call, deps, making, async () => {
    const page = await deps.store.list({ project, drive, limit, prefix, last }, { recursive });
    const entries = withinPage(page.entries, details);
    const more = page.more || entries.length < page.entries.length;
    const names = entries.map(({ name }) => name);
    return {
      names,
      ...(details ? { files: entries.map(detailsOf) } : {}),
      ...pagingOf(names, more),
    };
  });
}

/** Bytes of an entry's details in JSON, without its name and its type, at the most. */
const DETAILS = 250;

/** How long a text is in JSON: all that is long is what has to be escaped, or several bytes of UTF-8. */
function lengthInJson(text: string): number {
  if (PLAIN.test(text)) return text.length + 3;
  return new TextEncoder().encode(JSON.stringify(text)).byteLength + 1;
}

/** Characters that are one byte each in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The entries that fit into a page; at least the first. */
function withinPage(entries: Listed[], details: boolean): Listed[] {
  let bytes = 0;
  const end = entries.findIndex(({ name, record }, index) => {
    const times = details ? 2 : 1;
    bytes += times * lengthInJson(name) +
      (details ? DETAILS + lengthInJson(record?.type ?? "") : 0);
    return index > 0 && bytes > MAX_PAGE;
  });
  return end === -1 ? entries : entries.slice(0, end);
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

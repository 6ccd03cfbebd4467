import { type Api, pagesOf, type Schemas } from "../core/api.ts";
import { actorText, eventText, isOfKind, type Kind } from "./event_text.ts";
import type { Names } from "./event_names.ts";

/** An event in words. */
export interface EventRow {
  id: string;
  what: string;
  by: string;
  address: string;
  at: string;
}

export interface EventFilter {
  kind: Kind | undefined;
  /** A text in lower case; empty for all. */
  text: string;
}

/** Events of a page without a filter. With one, the server's largest pages are read until there are so many. */
const PAGE = 100;
const MAX_PAGE = 1000;
/** Pages that are read for one list at most: the rest is read on demand. */
const MAX_PAGES = 10;

interface EventPage {
  rows: EventRow[];
  paging?: { last: string };
}

/** Reads the next events that pass a filter, the newest first. @param project The server's own without one. */
export async function readEvents(
  api: Api,
  { project, names, ...filter }: EventFilter & { project: string | undefined; names: Names },
  from: { last?: string },
  signal: AbortSignal | null,
): Promise<EventPage> {
  const limit = filter.kind === undefined && filter.text === "" ? PAGE : MAX_PAGE;
  const rows: EventRow[] = [];
  let pages = 0;
  const read = (next: { last?: string }) =>
    readPage(api, project, { limit, ...from, ...next }, signal);
  for await (const { events, paging } of pagesOf(read)) {
    for (const event of events) {
      const row = rowOf(event, names);
      if (isOfKind(event.event, filter.kind) && has(row, filter.text)) rows.push(row);
    }
    const isEnough = rows.length >= PAGE || ++pages >= MAX_PAGES;
    if (paging !== undefined && isEnough) return { rows, paging };
  }
  return { rows };
}

function readPage(
  api: Api,
  project: string | undefined,
  query: { limit: number; last?: string },
  signal: AbortSignal | null,
): Promise<{ data?: Schemas["EventList"] }> {
  if (project === undefined) return api.GET("/admin/v1/events", { params: { query }, signal });
  const params = { path: { project_id: project }, query };
  return api.GET("/admin/v1/projects/{project_id}/events", { params, signal });
}

function rowOf(event: Schemas["Event"], names: Names): EventRow {
  const { id, by, address, at } = event;
  return { id, what: eventText(event, names), by: actorText(by, names), address, at };
}

function has({ what, by, address }: EventRow, text: string): boolean {
  return text === "" || `${what}\n${by}\n${address}`.toLowerCase().includes(text);
}

import { boundedJson, pagingOf } from "../../http/responses/json_response.ts";
import { jsonResponse } from "../../openapi/messages.ts";
import type { OperationDescription } from "../../openapi/operation.ts";
import { closed, listOf, schema } from "../../openapi/schemas.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { MAX_LIST } from "../../rules/names.ts";
import type { EventPage, EventQuery, ListedEvent } from "../../store/accounts/events.ts";
import { EVENTS } from "../../store/accounts/events.ts";
import type { Deps } from "../endpoint.ts";
import { type AdminCall, administratorEndpoint, projectEndpoint } from "./admin_call.ts";

/** Estimated memory for reading and writing one event, in bytes. */
const EVENT_MEMORY = 1024;

/** What both operations have in common. */
const listing = {
  tag: "Projects",
  parameters: ["Limit", "LastEvent"],
  success: {
    200: jsonResponse("The events, and `paging` if there is a next page.", "EventList"),
  },
} satisfies Partial<OperationDescription>;

/** `GET /admin/v1/projects/{id}/events`: "newest first … with `paging` as in listings". */
export const listEvents = projectEndpoint({
  ...listing,
  id: "listEvents",
  summary: "List events of a project",
  description:
    "Lists who changed what in the project, from which address and when, the newest first. Events are kept for 90 days.",
  schemas: {
    EventList: closed({
      events: listOf(schema("Event"), { maxItems: MAX_LIST }),
      paging: schema("Paging"),
    }, { optional: ["paging"] }),
    Event: closed({
      id: { type: "string", minLength: 1, examples: ["01J9Z3NDEKTSV4RRFFQ69G5FAV"] },
      at: schema("Second"),
      event: { type: "string", enum: [...EVENTS], examples: ["key.created"] },
      by: {
        type: "string",
        description:
          "The prefix of the project key that was used, the id of the S3 key, `admin` for the administrator, `command line` for a " +
          "command on the data folder and for settings that a server was started with, or `server` for the server itself.",
        examples: ["k3JxQ0aB"],
      },
      address: {
        type: "string",
        description: "The address of the client; empty for the command line.",
        examples: ["192.0.2.7"],
      },
      target: {
        type: "string",
        description:
          "What was changed: the prefix of a key, the id of an S3 key, the name of an application, a webhook or a drive, a setting with its new " +
          "value, or the project. The list of the server begins it with the project's id and `/`.",
        examples: ["9fKq2LmX"],
      },
    }),
  },
}, async (call, deps) => {
  const { project } = call;
  return await eventList(call, deps, {
    project,
    read: (query) => deps.store.events.list(project, query),
    targetOf: ({ target }) => target ?? project,
  });
});

/** `GET /admin/v1/events`: "The administrator has the same for the server." */
export const listServerEvents = administratorEndpoint({
  ...listing,
  id: "listServerEvents",
  summary: "List events of the server",
  description:
    "Lists the events of all projects, those that were deleted included, and of the server itself, the newest first. " +
    "For the administrator only.",
}, async (call, deps) => {
  return await eventList(call, deps, {
    // Memory for responses is shared between projects, and this is none.
    project: "",
    read: (query) => deps.store.events.listServer(query),
    targetOf: ({ project, target }) => [project, target].filter(Boolean).join("/"),
  });
});

/** A log and how its events name their targets. */
interface Log {
  project: string;
  read: (query: EventQuery) => Promise<EventPage>;
  targetOf: (event: ListedEvent) => string;
}

async function eventList(
  { request, context, query }: AdminCall,
  deps: Deps,
  { project, read, targetOf }: Log,
): Promise<Response> {
  const { limit, last } = query.pageOfIds();
  const options = { estimate: limit * EVENT_MEMORY, isRepeatable: true };
  return await boundedJson({ request, context, project }, deps, options, async () => {
    const { events, more } = await read({ limit, last });
    return {
      events: events.map((one) => ({
        id: one.id,
        at: isoSeconds(one.at),
        event: one.event,
        by: one.by,
        address: one.address,
        target: targetOf(one),
      })),
      ...pagingOf(events.map(({ id }) => id), more),
    };
  });
}

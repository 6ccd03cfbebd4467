import { boundedJson, json, pagingOf } from "../../http/responses/json_response.ts";
import { jsonResponse } from "../../openapi/messages.ts";
import type { OperationDescription } from "../../openapi/operation.ts";
import { closed, count, listOf, schema } from "../../openapi/schemas.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { MAX_LIST } from "../../rules/names.ts";
import {
  type EventPage,
  type EventQuery,
  EVENTS,
  type ListedEvent,
} from "../../store/accounts/events.ts";
import type { Deps } from "../endpoint.ts";
import { type AdminCall, administratorEndpoint, projectEndpoint } from "./admin_call.ts";
import type { Query } from "../../http/request_target.ts";
import { DAY, DEFAULT_USAGE_DAYS, MAX_USAGE_DAYS } from "../../rules/units.ts";
import type { UsageDay } from "../../store/accounts/usage_history.ts";
import { sumOf } from "./json.ts";

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

const PERIOD =
  "The oldest day comes first, and the last one is today (UTC), whose files and bytes are the present ones. " +
  "Other days have those that they ended with. Requests count for the day in which they ended, and appear within a minute. ";

/** What both operations have in common. */
const figures = {
  tag: "Projects",
  parameters: ["Days"],
  success: { 200: jsonResponse("The figures of each day.", "UsageList") },
} satisfies Partial<OperationDescription>;

/** `GET /admin/v1/projects/{id}/usage`: files, bytes, requests and traffic of each day. */
export const showUsage = projectEndpoint({
  ...figures,
  id: "showUsage",
  summary: "Show the usage of a project by day",
  description:
    "Returns the files, bytes, requests and traffic of a project for each of the last days. " +
    PERIOD + "Days before the project existed, or before the server kept figures, are left out.",
  schemas: {
    UsageList: closed({
      days: listOf(schema("UsageDay"), { minItems: 1, maxItems: MAX_USAGE_DAYS }),
    }),
    UsageDay: closed({
      date: { type: "string", format: "date", examples: ["2026-11-22"] },
      files: count("The number of files in all drives.", 12),
      bytes: count("Their total size.", 1_048_576),
      requests: count(
        "Requests to the drives, the links and the administration of the project by those who may use them. " +
          "Requests for its applications are not among them.",
        340,
      ),
      received: count("Bytes of the bodies of these requests.", 524_288),
      sent: count("Bytes of the bodies of their responses.", 8_388_608),
    }),
  },
}, async ({ project, info: { created }, query }, { store }) => {
  const days = daysOf(query);
  const { files, bytes } = await store.usageOf(project);
  const stock = { files, bytes };
  return usageList(await store.usageHistory.list({ project, created, days, stock }));
});

/** `GET /admin/v1/usage`: the same for all projects together. */
export const showServerUsage = administratorEndpoint({
  ...figures,
  id: "showServerUsage",
  summary: "Show the usage of the server by day",
  description:
    "Returns the files, bytes, requests and traffic of all projects together, those that were deleted included, for each " +
    "of the last days. " + PERIOD +
    "Days before the server kept figures are left out. For the administrator only.",
}, async ({ query }, { store }) => {
  const days = daysOf(query);
  const { files, bytes } = sumOf(await store.usage());
  return usageList(await store.usageHistory.list({ days, stock: { files, bytes } }));
});

/** @throws {HttpError} 400 if the query asks for no number of days that is kept. */
function daysOf(query: Query): number {
  return query.wholeNumber("days", MAX_USAGE_DAYS) ?? DEFAULT_USAGE_DAYS;
}

function usageList(days: readonly UsageDay[]): Response {
  return json(200, {
    days: days.map(({ day, files, bytes, requests, received, sent }) => ({
      date: new Date(day * DAY).toISOString().slice(0, "2026-11-22".length),
      files,
      bytes,
      requests,
      received,
      sent,
    })),
  });
}

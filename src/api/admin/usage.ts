import { json } from "../../http/responses/json_response.ts";
import type { Query } from "../../http/request_target.ts";
import { jsonResponse } from "../../openapi/messages.ts";
import type { OperationDescription } from "../../openapi/operation.ts";
import { closed, count, listOf, schema } from "../../openapi/schemas.ts";
import { DAY, DEFAULT_USAGE_DAYS, MAX_USAGE_DAYS } from "../../rules/units.ts";
import type { UsageDay } from "../../store/accounts/usage_history.ts";
import { administratorEndpoint, projectEndpoint } from "./admin_call.ts";
import { sumOf } from "./json.ts";

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

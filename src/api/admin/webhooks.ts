import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, count, listOf, orNull, schema } from "../../openapi/schemas.ts";
import type { Schema } from "../../openapi/types.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { MAX_UPSTREAM, webhookUrlProblem } from "../../rules/hosts.ts";
import {
  driveNameProblem,
  keyNameProblem,
  MAX_FILE_NAME,
  namePrefixProblem,
} from "../../rules/names.ts";
import { MAX_KEY_DRIVES, RightMissing, Rights } from "../../rules/rights.ts";
import type { ChangeType, WebhookFilters } from "../../store/engine/records.ts";
import { MAX_PENDING, type Webhook } from "../../store/webhooks/webhook_store.ts";
import { secretText } from "../../webhooks/message.ts";
import type { Deps } from "../endpoint.ts";
import { changeFailures, jsonFailures, type ProjectCall, projectEndpoint } from "./admin_call.ts";

const TYPES = ["put", "delete", "move"] as const satisfies readonly ChangeType[];

/** Describes the 404 of an operation on a webhook. */
const NO_WEBHOOK = "The webhook or the project does not exist.";

const FORBIDDEN =
  "The key is of another project, or lacks the permission `admin` or `list`, or is for fewer drives or names than the " +
  "webhook, or expires.";

const OFF = "The project keeps no changes: its `change_days` is 0.";

const settings = {
  name: schema("Label"),
  url: schema("WebhookUrl"),
  drives: {
    ...orNull(listOf(schema("DriveName"), { minItems: 1, maxItems: MAX_KEY_DRIVES })),
    description: "The drives whose changes are delivered; `null` for all.",
  },
  name_prefix: {
    ...orNull({ type: "string", minLength: 1, maxLength: MAX_FILE_NAME, examples: ["inbox/"] }),
    description: "Only changes of names that begin with this text; `null` for all.",
  },
  types: {
    ...orNull(listOf({ type: "string", enum: TYPES }, { minItems: 1, maxItems: TYPES.length })),
    description: "The types of changes that are delivered; `null` for all.",
  },
} satisfies Record<string, Schema>;

const time: Schema = {
  type: "string",
  format: "date-time",
  examples: ["2021-04-22T11:50:08.123Z"],
};
const status: Schema = { type: "integer", minimum: 200, maximum: 599, examples: [204] };
const problem: Schema = {
  type: "string",
  description: "Why there was no response, as the end of a sentence.",
  examples: ["did not answer within 10 s"],
};

const webhookFields = {
  id: schema("WebhookId"),
  ...settings,
  enabled: { type: "boolean" },
  disabled_reason: {
    ...orNull({ type: "string", enum: ["gone", "failing"] }),
    description:
      "Why the server disabled it: the receiver answered 410, or has failed for three days. `null` otherwise.",
  },
  created: schema("Second"),
  last_delivery: { ...orNull(time), description: "When a delivery was last tried." },
  last_status: { ...orNull(status), description: "The status of its response, if there was one." },
  last_error: orNull(problem),
  failing_since: {
    ...orNull(time),
    description: "The first failure since the last delivery that was accepted.",
  },
  next_attempt: {
    ...orNull(time),
    description: "When a delivery that failed is tried again.",
  },
  changes_missed: {
    ...orNull(time),
    description:
      "When changes were last found to have expired before they were delivered. Enabling the webhook resets it.",
  },
  pending: count(`Changes that were not delivered yet; at most ${MAX_PENDING} are counted.`, 0),
  deliveries: {
    ...listOf(closed({
      at: time,
      status: orNull(status),
      error: orNull(problem),
      drive_name: schema("DriveName"),
      changes: count("The number of changes.", 3),
    })),
    description: "The last attempts, the newest first.",
  },
} satisfies Record<string, Schema>;

/** `GET …/webhooks`. */
export const listWebhooks = projectEndpoint({
  id: "listWebhooks",
  tag: "Webhooks",
  summary: "List webhooks",
  description:
    "Lists the webhooks of a project with what became of their deliveries. A key that is limited to some drives or " +
    "names sees only webhooks within its limits.",
  success: { 200: jsonResponse("All webhooks, without their secrets.", "WebhookList") },
  schemas: {
    WebhookList: closed({ webhooks: listOf(schema("Webhook")) }),
    Webhook: closed(webhookFields),
    WebhookId: {
      type: "string",
      pattern: "^[0-9A-Z]{26}$",
      examples: ["01J9Z3NDEKTSV4RRFFQ69G5FAV"],
    },
    WebhookUrl: {
      type: "string",
      description: "The address of the receiver: http or https, without a user and a fragment.",
      maxLength: MAX_UPSTREAM,
      pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\#]+$",
      examples: ["https://example.com/kvdrive"],
    },
  },
}, async ({ project, rights }, { store }) => {
  const all = await store.webhooks.list(project);
  const visible = all.filter(({ record }) => rights.coversScope(new Rights(scopeOf(record))));
  const listed: WebhookJson[] = [];
  for (const webhook of visible) listed.push(await webhookJson(webhook, store));
  return json(200, { webhooks: listed });
});

const CREATABLE = ["name", "url", "drives", "name_prefix", "types"];

/** `POST …/webhooks`: creates a webhook, whose secret is returned only once. */
export const createWebhook = projectEndpoint({
  id: "createWebhook",
  tag: "Webhooks",
  summary: "Create a webhook",
  description:
    "Changes from now on are sent to the address of the webhook, signed as the Standard Webhooks specification says. " +
    "The secret is returned only in this response. A key needs the permission `list` as well, and cannot create one " +
    "for more drives or names than its own.",
  body: jsonBody("Where to, and which changes.", schema("CreateWebhookRequest"), {
    example: { name: "index", url: "https://example.com/kvdrive", drives: ["photos"] },
  }),
  success: { 201: jsonResponse("The webhook.", "CreatedWebhook") },
  failures: {
    ...jsonFailures,
    Forbidden: FORBIDDEN,
    Conflict: `${OFF} Or it has as many webhooks as are allowed.`,
  },
  schemas: {
    CreateWebhookRequest: closed(settings, { optional: ["drives", "name_prefix", "types"] }),
    CreatedWebhook: closed({
      ...webhookFields,
      secret: {
        type: "string",
        pattern: "^whsec_[A-Za-z0-9+/]{43}=$",
        description: "What signs the deliveries.",
      },
    }),
  },
}, async (call, deps) => {
  const { store } = deps;
  const fields = await Fields.read(call, deps, CREATABLE);
  const filters = filtersOf(fields);
  const wanted = {
    name: fields.text("name", keyNameProblem),
    url: fields.text("url", urlProblem(deps)),
    ...withoutNull(filters),
  };
  requireWithin(call, wanted);
  const webhook = await store.webhooks.create(call.project, wanted, call.actor);
  const secret = secretText(webhook.record.secret);
  return json(201, { ...jsonOf(webhook, 0), secret });
});

const CHANGEABLE = [...CREATABLE, "enabled"];

/** `PATCH …/webhooks/{id}`. */
export const changeWebhook = projectEndpoint({
  id: "changeWebhook",
  tag: "Webhooks",
  summary: "Change a webhook",
  description:
    "Sets the given fields; `null` removes a filter. `enabled` set to `true` enables the webhook again: it goes on where it " +
    "was, as far as the changes are kept.",
  body: jsonBody("The fields to set.", schema("ChangeWebhookRequest"), {
    example: { enabled: true },
  }),
  success: { 200: jsonResponse("The changed webhook.", "Webhook") },
  failures: { ...jsonFailures, Forbidden: FORBIDDEN, NotFound: NO_WEBHOOK, Conflict: OFF },
  schemas: {
    ChangeWebhookRequest: closed({ ...settings, enabled: { type: "boolean" } }, {
      optional: CHANGEABLE,
      description: "At least one field is required.",
    }),
  },
}, async (call, deps) => {
  const { store } = deps;
  const fields = await Fields.read(call, deps, CHANGEABLE);
  if (!CHANGEABLE.some((name) => fields.has(name))) throw errors.nothingToChange(CHANGEABLE);
  const current = await requireWebhook(call, deps);
  const filters = filtersOf(fields);
  const changes = {
    ...filters,
    ...fields.has("name") && { name: fields.text("name", keyNameProblem) },
    ...fields.has("url") && { url: fields.text("url", urlProblem(deps)) },
    ...fields.has("enabled") && { enabled: fields.flag("enabled") },
  };
  requireWithin(call, withoutNull({ ...scopeOf(current.record), ...filters }));
  const changed = await store.webhooks.update(call.project, current.id, changes, call.actor);
  if (changed === undefined) throw errors.webhookNotFound(current.id);
  return json(200, await webhookJson(changed, store));
});

/** `DELETE …/webhooks/{id}`. */
export const deleteWebhook = projectEndpoint({
  id: "deleteWebhook",
  tag: "Webhooks",
  summary: "Delete a webhook",
  description: "Nothing more is delivered once this is answered, but what was already sent.",
  success: { 200: jsonResponse("The webhook was deleted.", "WebhookNamed") },
  failures: { ...changeFailures, NotFound: NO_WEBHOOK },
  schemas: { WebhookNamed: closed({ id: schema("WebhookId") }) },
}, async (call, deps) => {
  const { id } = await requireWebhook(call, deps);
  const isDeleted = await deps.store.webhooks.delete(call.project, id, call.actor);
  if (!isDeleted) throw errors.webhookNotFound(id);
  return json(200, { id });
});

/** `POST …/webhooks/{id}/test`: "sends a test at once and answers what came back". */
export const testWebhook = projectEndpoint({
  id: "testWebhook",
  tag: "Webhooks",
  summary: "Test a webhook",
  description:
    "Sends a message at once, also if the webhook is disabled, and returns what came back. The message looks like others: it " +
    "says that a file with a random name was deleted, which never existed.",
  success: {
    200: jsonResponse("What came back.", "WebhookTest", {
      example: { status: 204, error: null, body: "", duration: 0.12 },
    }),
  },
  failures: { Forbidden: FORBIDDEN, NotFound: NO_WEBHOOK, Conflict: OFF },
  schemas: {
    WebhookTest: closed({
      status: { ...orNull(status), description: "`null` if there was no response." },
      error: orNull(problem),
      body: { type: "string", description: "The beginning of the response's body." },
      duration: { type: "number", minimum: 0, description: "Seconds.", examples: [0.12] },
    }),
  },
}, async (call, deps) => {
  const webhook = await requireWebhook(call, deps);
  if (call.info.changeDays === undefined) throw errors.changesOff();
  const { status = null, problem = null, body, duration } = await deps.webhooks.test(webhook);
  return json(200, { status, error: problem, body, duration: duration / 1000 });
});

/** A webhook without its secret. */
export type WebhookJson = ReturnType<typeof jsonOf>;

async function webhookJson(webhook: Webhook, store: Deps["store"]): Promise<WebhookJson> {
  return jsonOf(webhook, await store.webhooks.countPending(webhook));
}

function jsonOf({ id, record, state }: Webhook, pending: number) {
  const { name, url, drives, namePrefix, types, created, disabled } = record;
  const { deliveries, failing, missed } = state;
  const isEnabled = disabled === undefined;
  const [last] = deliveries;
  return {
    id,
    name,
    url,
    drives: drives ?? null,
    name_prefix: namePrefix ?? null,
    types: types ?? null,
    enabled: isEnabled,
    disabled_reason: disabled?.reason ?? null,
    created: isoSeconds(created),
    last_delivery: momentJson(last?.at),
    last_status: last?.status ?? null,
    last_error: last?.problem ?? null,
    failing_since: momentJson(failing?.since),
    next_attempt: momentJson(isEnabled ? failing?.next : undefined),
    changes_missed: momentJson(missed),
    pending,
    deliveries: deliveries.map((one) => ({
      at: new Date(one.at).toISOString(),
      status: one.status ?? null,
      error: one.problem ?? null,
      drive_name: one.drive,
      changes: one.changes,
    })),
  };
}

function momentJson(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

/** The filters in a request; `null` removes one. */
interface WantedFilters {
  drives?: readonly string[] | null;
  namePrefix?: string | null;
  types?: readonly ChangeType[] | null;
}

function filtersOf(fields: Fields): WantedFilters {
  const isType = (text: string): text is ChangeType => TYPES.some((one) => one === text);
  const drives = fields.optionalTexts("drives", MAX_KEY_DRIVES, driveNameProblem);
  const namePrefix = fields.optionalText("name_prefix", namePrefixProblem);
  const types = fields.optionalTexts(
    "types",
    TYPES.length,
    (text) => isType(text) ? undefined : `is no type: choose from ${TYPES.join(", ")}`,
  );
  return {
    ...fields.has("drives") && { drives: drives ?? null },
    ...fields.has("name_prefix") && { namePrefix: namePrefix ?? null },
    ...fields.has("types") && { types: types?.filter(isType) ?? null },
  };
}

function withoutNull({ drives, namePrefix, types }: WantedFilters): WebhookFilters {
  return {
    ...(drives && { drives }),
    ...(namePrefix && { namePrefix }),
    ...(types && { types }),
  };
}

function urlProblem({ webhookRules }: Deps): (text: string) => string | undefined {
  return (text) => webhookUrlProblem(text) ?? webhookRules.problemOf(text);
}

function scopeOf({ drives, namePrefix }: WebhookFilters): WebhookFilters {
  return { ...(drives && { drives }), ...(namePrefix && { namePrefix }) };
}

/** "No key can make one with more rights than its own", nor something that outlives it. @throws {RightMissing} */
function requireWithin({ rights }: ProjectCall, wanted: WebhookFilters): void {
  rights.requireEndless("a webhook");
  if (rights.coversScope(new Rights(scopeOf(wanted)))) return;
  throw new RightMissing(
    "rights_exceeded",
    "cannot have a webhook for more drives or names than its own: " +
      'give "drives" and "name_prefix" within its limits',
  );
}

/** The webhook in the path. @throws {HttpError} 404 if there is none, or the key is not for all that it tells of. */
async function requireWebhook(
  { project, params, rights }: ProjectCall,
  { store }: Deps,
): Promise<Webhook> {
  const id = params["webhook"] ?? "";
  const webhook = await store.webhooks.get(project, id);
  const isVisible = webhook !== undefined &&
    rights.coversScope(new Rights(scopeOf(webhook.record)));
  if (!isVisible) throw errors.webhookNotFound(id);
  return webhook;
}

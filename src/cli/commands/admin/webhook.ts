import type { WebhookJson } from "../../../api/admin/webhooks.ts";
import type { Administration } from "../../../client/administration.ts";
import { webhookUrlProblem } from "../../../rules/hosts.ts";
import { driveNameProblem, keyNameProblem, namePrefixProblem } from "../../../rules/names.ts";
import { CommandError } from "../../terminal/output.ts";
import type { CommandCall } from "../command_call.ts";
import { listOf } from "./key.ts";

export async function createWebhook(call: CommandCall): Promise<void> {
  const { project } = call;
  call.validate("URL", webhookUrlProblem);
  call.validate("name", keyNameProblem);
  call.validate("name-prefix", namePrefixProblem);
  const wanted = {
    name: call.required("name"),
    url: call.required("URL"),
    drives: listOf(call, "drives", driveNameProblem),
    name_prefix: call.get("name-prefix"),
    types: listOf(call, "types", () => undefined),
  };
  const made = await call.administer((on) =>
    on.create<WebhookJson & { secret: string }>(["projects", project, "webhooks"], wanted)
  );
  call.print(made, [
    `Id:      ${made.id}`,
    `Secret:  ${made.secret}`,
    "",
    "The secret is shown only once: the receiver needs it to check signatures.",
  ]);
}

export async function listWebhooks(call: CommandCall): Promise<void> {
  const { project } = call;
  const webhooks = await call.administer((on) => webhooksOf(on, project));
  const rows = webhooks.map((one) => [
    one.id,
    one.name,
    one.url,
    stateOf(one),
    one.last_delivery,
    one.last_status === null ? one.last_error : String(one.last_status),
    String(one.pending),
  ]);
  const headings = ["ID", "NAME", "URL", "STATE", "LAST DELIVERY", "ANSWER", "PENDING"];
  call.printTable({ webhooks }, headings, rows, `The project ${project} has no webhooks.`);
}

export async function testWebhook(call: CommandCall): Promise<void> {
  const path = ["projects", call.project, "webhooks", call.required("ID"), "test"];
  const { status, error, body, ...rest } = await call.administer((on) =>
    on.create<{ status: number | null; error: string | null; body: string }>(path, undefined)
  );
  if (status === null) throw new CommandError(`The receiver ${error}`);
  const isAccepted = status >= 200 && status < 300;
  if (!isAccepted) {
    throw new CommandError(`The receiver answered ${status}: it has to answer 200 to 299. ${body}`);
  }
  const lines = [`The receiver answered ${status}.`, ...body === "" ? [] : [body]];
  call.print({ status, error, body, ...rest }, lines);
}

export async function enableWebhook(call: CommandCall): Promise<void> {
  const path = ["projects", call.project, "webhooks", call.required("ID")];
  const webhook = await call.administer((on) =>
    on.set<WebhookJson>("PATCH", path, { enabled: true })
  );
  call.print(webhook, [`The webhook ${webhook.id} ("${webhook.name}") is enabled.`]);
}

export async function deleteWebhook(call: CommandCall): Promise<void> {
  const { project } = call;
  const id = call.required("ID");
  await call.administer(async (on) => {
    const webhook = (await webhooksOf(on, project)).find((one) => one.id === id);
    if (webhook === undefined) {
      throw new CommandError(
        `The project ${project} has no webhook ${id}: see kvdrive webhook list`,
      );
    }
    call.confirm(`Delete the webhook ${id} ("${webhook.name}") of the project ${project}?`);
    await on.delete("projects", project, "webhooks", id);
  });
  call.print({ id }, [`The webhook ${id} is deleted.`]);
}

async function webhooksOf(on: Administration, project: string): Promise<WebhookJson[]> {
  return (await on.get<{ webhooks: WebhookJson[] }>(["projects", project, "webhooks"])).webhooks;
}

function stateOf({ enabled, failing_since }: WebhookJson): string {
  if (!enabled) return "disabled";
  return failing_since === null ? "working" : "failing";
}

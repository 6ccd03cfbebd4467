/**
 * The messages of webhooks, signed as the Standard Webhooks specification says.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { SECOND } from "../rules/units.ts";
import type { Change } from "../store/changes/change_feed.ts";
import type { Webhook } from "../store/webhooks/webhook_store.ts";

/** Characters of an id, in base64: enough that no two messages have the same. */
const ID_LENGTH = 27;

export interface Message {
  /** "Identifies the message": the same for each attempt. It is derived from the message, so no process has to keep it. */
  id: string;
  body: Uint8Array;
}

/** What identifies the webhook of a message. */
type Sender = Pick<Webhook, "project" | "id">;

const encoder = new TextEncoder();

/** Returns the message with some changes of a drive. */
export function messageOf(
  { project, id }: Sender,
  drive: string,
  changes: readonly Change[],
): Message {
  const body = encoder.encode(JSON.stringify({
    project_id: project,
    drive_name: drive,
    changes: changes.map(({ id, at, ...change }) => ({
      id,
      at: new Date(at).toISOString(),
      ...change,
    })),
  }));
  const hash = createHash("sha256").update(id).update(body).digest("base64url");
  return { id: `msg_${hash.slice(0, ID_LENGTH)}`, body };
}

/**
 * Returns a message that looks like others, and whose change means nothing to receivers: a name that never existed was
 * deleted.
 */
export function testMessage(webhook: Pick<Webhook, "project" | "id" | "record">): Message {
  const { drives: [drive = "webhook-test"] = [], namePrefix = "" } = webhook.record;
  const random = crypto.randomUUID();
  const change = { type: "delete", name: `${namePrefix}webhook-test-${random}` } as const;
  return messageOf(webhook, drive, [{ id: random.replaceAll("-", ""), at: Date.now(), ...change }]);
}

/** Returns the secret as its owner gets it. */
export function secretText(secret: string): string {
  return `whsec_${secret}`;
}

/**
 * Returns the headers that sign a message: "the signed content is `msg_id.timestamp.payload`".
 *
 * @param secret In base64.
 */
export function signatureHeaders(
  { id, body }: Message,
  secret: string,
  now = Date.now(),
): Record<string, string> {
  const timestamp = String(Math.floor(now / SECOND));
  const signature = createHmac("sha256", Buffer.from(secret, "base64"))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}

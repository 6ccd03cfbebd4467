/**
 * The values of the store that only webhooks have. Times are milliseconds since 1970.
 *
 * @module
 */

/** What a change does to a name. */
export type ChangeType = "put" | "delete" | "move";

/** Which changes a webhook tells of. What is absent does not limit it. */
export interface WebhookFilters {
  drives?: readonly string[];
  /** The beginning of the names. */
  namePrefix?: string;
  types?: readonly ChangeType[];
}

/** A webhook: where changes are delivered. */
export interface WebhookRecord extends WebhookFilters {
  name: string;
  url: string;
  /** What signs deliveries, in base64. It has to be readable for that. */
  secret: string;
  created: number;
  /** The versionstamp of the commit that created it, once it was changed: it tells of later commits. */
  since?: string;
  /** Absent while it is enabled. */
  disabled?: WebhookEnd;
  /** Set until the drives that it may have to tell of were searched for. */
  searching?: true;
}

/** When a webhook was disabled, and why unless someone did that: the receiver answered 410, or failed for too long. */
export interface WebhookEnd {
  at: number;
  reason?: "gone" | "failing";
}

/** What became of the deliveries of a webhook. */
export interface WebhookState {
  /** The last attempts, the newest first. */
  deliveries: readonly DeliveryRecord[];
  /** Set while its receiver fails. */
  failing?: FailingDelivery;
  /** When changes were found to have expired before they were delivered. */
  missed?: number;
}

export interface DeliveryRecord {
  at: number;
  /** The status of the response; absent if there was none. */
  status?: number;
  /** Why there was no response, as the end of a sentence. */
  problem?: string;
  drive: string;
  changes: number;
}

/** A delivery that is tried again. */
export interface FailingDelivery {
  /** The first failure since the last success. */
  since: number;
  attempts: number;
  /** When it is tried again. */
  next: number;
  /** What has to be delivered again: its drive, and its last change. */
  pending?: { drive: string; to: { stamp: string; index: number } };
}

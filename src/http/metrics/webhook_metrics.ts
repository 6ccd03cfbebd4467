import type { WebhookSummary } from "../../store/webhooks/webhook_store.ts";
import { type Exposition, Histogram, only } from "./exposition.ts";

/** Bounds in seconds: a delivery ends after ten. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts the deliveries of webhooks. */
export class WebhookMetrics {
  readonly #deliveries = { accepted: 0, failed: 0 };
  readonly #duration = new Histogram(SECONDS);
  #changes = 0;
  #disabled = 0;

  delivered(outcome: "accepted" | "failed", milliseconds: number, changes: number): void {
    this.#deliveries[outcome]++;
    this.#duration.observe(milliseconds / 1000);
    if (outcome === "accepted") this.#changes += changes;
  }

  disabled(): void {
    this.#disabled++;
  }

  write(to: Exposition): void {
    to.counter(
      "kvdrive_webhook_deliveries_total",
      "Attempts to deliver changes to webhooks, by outcome.",
      Object.entries(this.#deliveries).map(([outcome, count]) => [{ outcome }, count]),
    );
    to.counter(
      "kvdrive_webhook_changes_total",
      "Changes that receivers of webhooks have accepted.",
      only(this.#changes),
    );
    to.counter(
      "kvdrive_webhooks_disabled_total",
      "Webhooks that the server disabled: their receivers answered 410, or failed for three days.",
      only(this.#disabled),
    );
    to.histogram(
      "kvdrive_webhook_delivery_duration_seconds",
      "Time until the receiver of a webhook answered, or was given up.",
      [[{}, this.#duration]],
    );
  }
}

export function writeWebhooks(to: Exposition, { enabled, failing, ended }: WebhookSummary): void {
  to.gauge("kvdrive_webhooks", "Webhooks by state; those that their owners disabled not counted.", [
    [{ state: "working" }, enabled - failing],
    [{ state: "failing" }, failing],
    [{ state: "disabled" }, ended.length],
  ]);
}

import { SECOND } from "../../rules/units.ts";
import type { UsedProject } from "../../store/accounts/projects.ts";
import type { VolumeQuery } from "../../store/disk/volume.ts";
import type { Integrity } from "../../store/store.ts";
import type { WebhookSummary } from "../../store/webhooks/webhook_store.ts";
import { mergeMetrics, type MetricFamily, metricsText, readMetrics } from "./exposition.ts";
import { PROCESS_METRICS, type ProcessSource, STORE_METRICS, type StoreSource } from "./table.ts";

/** How long the metrics of projects are cached, as each read lists the projects and the damaged files. */
const USAGE_TTL = 10 * SECOND;

/** Where the metrics come from. */
export interface MetricsSources extends ProcessSource {
  usage: () => Promise<UsedProject[]>;
  integrity: () => Promise<Integrity>;
  webhookSummary: () => Promise<WebhookSummary>;
  storeSize: () => Promise<number | undefined>;
  volume: VolumeQuery;
  /** The metrics of the other processes of the server. */
  others: () => Promise<(readonly MetricFamily[])[]>;
}

interface Usage extends Pick<StoreSource, "projects" | "integrity" | "webhooks"> {
  /** When it was read, as `performance.now()`. */
  readAt: number;
}

/** All metrics of the program, as text for Prometheus. */
export class MetricsPage {
  #usage: Promise<Usage> | undefined;

  constructor(private readonly sources: MetricsSources) {}

  /** The current metrics; those of the projects are at most `USAGE_TTL` old. */
  async render(): Promise<string> {
    const { storeSize, volume, others } = this.sources;
    const [usage, size, disk, families] = await Promise.all([
      this.#read(),
      storeSize(),
      volume(),
      others(),
    ]);
    const ofProcesses = families.reduce(mergeMetrics, this.families());
    return metricsText([...ofProcesses, ...readMetrics(STORE_METRICS, { ...usage, size, disk })]);
  }

  /** The metrics of this process. */
  families(): MetricFamily[] {
    return readMetrics(PROCESS_METRICS, this.sources);
  }

  /** Concurrent calls share one read of the counters, whose result is cached. */
  async #read(): Promise<Usage> {
    const known = await this.#usage;
    if (known !== undefined && performance.now() - known.readAt < USAGE_TTL) return known;
    const reading = this.#usage = this.#readUsage();
    try {
      return await reading;
    } catch (error) {
      this.#usage = undefined;
      throw error;
    }
  }

  async #readUsage(): Promise<Usage> {
    const { usage, integrity, webhookSummary } = this.sources;
    const [projects, found, webhooks] = await Promise.all([
      usage(),
      integrity(),
      webhookSummary(),
    ]);
    return { projects, integrity: found, webhooks, readAt: performance.now() };
  }
}

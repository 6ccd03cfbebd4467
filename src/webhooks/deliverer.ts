/**
 * Delivers the changes of all projects to their webhooks.
 *
 * - **What is stored.** A webhook has a record (`WebhookStore`), a state with its last deliveries and its failure, and for
 *   each drive a cursor. Each commit on a name of a project with webhooks notes the drive as due (`DeliveryQueue`).
 * - **Who delivers.** The process that holds a lease (`WebhookLease`), of all on the store. Of several processes of one
 *   server only the first one tries, as for other background work. It takes the lease while there are webhooks at all.
 * - **When.** A commit of this process wakes the deliverer. For those of others it looks at the store when SQLite tells that
 *   anything was committed, and on a shared store every two seconds. One look finds all drives that are due.
 * - **How.** Each webhook has a runner (`WebhookRunner`), which sends one message at a time and moves the cursor once it
 *   was accepted. The number of messages at the same time, and their size, are bounded.
 *
 * Changes that expire before they are delivered are passed over, and the webhook says so: it never stops for them.
 *
 * @module
 */
import type { UpstreamRules } from "../http/network/upstream_rules.ts";
import { Semaphore } from "../rules/concurrency.ts";
import { SECOND } from "../rules/units.ts";
import type { Store } from "../store/store.ts";
import { tellsOf, type Webhook } from "../store/webhooks/webhook_store.ts";
import { LEASE_INTERVAL } from "../store/webhooks/delivery_queue.ts";
import { signatureHeaders, testMessage } from "./message.ts";
import { type Answer, deliver, type Delivery } from "./receiver.ts";
import { type DeliveryMeter, type RunnerDeps, WebhookRunner } from "./webhook_runner.ts";

/** Deliveries at the same time to receivers that answer at once, and to those that do not. Each takes some 300 KB at most. */
const PROMPT_SLOTS = 96;
const SLOW_SLOTS = 64;

/** Tests at the same time. */
const TEST_SLOTS = 8;

/** How often commits of other processes are looked for, in milliseconds: on this machine, and on a shared store. */
const LOCAL_INTERVAL = SECOND / 4;
const SHARED_INTERVAL = 2 * SECOND;

/** The rest after a look at what is due, as a multiple of its duration, so that it never takes a large share of the time. */
const REST = 5;

export interface DelivererOptions {
  rules: UpstreamRules;
  meter: DeliveryMeter;
  onError: (error: unknown) => void;
}

export class WebhookDeliverer {
  /** By the ids of their webhooks, which are unique in the store. */
  readonly #runners = new Map<string, WebhookRunner>();
  /** Where the next look at a project with very many due drives begins. */
  readonly #from = new Map<string, string>();
  /** Projects with enabled webhooks, as far as this process knows. */
  #projects: ReadonlySet<string> = new Set();
  readonly #stop = new AbortController();
  readonly #tests = new Semaphore(TEST_SLOTS);
  readonly #deps: RunnerDeps;
  readonly #interval: number;
  #leaseTimer: ReturnType<typeof setTimeout> | undefined;
  #lookTimer: ReturnType<typeof setTimeout> | undefined;
  #leasing: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  /** The state of the store's file at the last look. */
  #state: number | undefined;
  #isWoken = false;

  constructor(private readonly store: Store, private readonly options: DelivererOptions) {
    const { rules, meter, onError } = options;
    this.#interval = store.changeProbe === undefined ? SHARED_INTERVAL : LOCAL_INTERVAL;
    this.#deps = {
      queue: store.deliveries,
      send: (delivery, signal) => deliver(delivery, rules, signal),
      slots: { prompt: new Semaphore(PROMPT_SLOTS), slow: new Semaphore(SLOW_SLOTS) },
      meter,
      isActive: () => this.#isActive,
      onError,
      signal: this.#stop.signal,
    };
  }

  /** Begins to deliver, as soon as there are webhooks and no other process delivers. */
  start(): void {
    this.store.onAnnounced((projects) => {
      if (projects.some((project) => this.#projects.has(project))) this.#wake();
    });
    this.store.webhooks.onChanged = () => this.#lease(0);
    this.#lease(0);
  }

  /** Webhooks of which it keeps something in memory. */
  get known(): string[] {
    return [...this.#runners.keys()];
  }

  /** Ends deliveries that are running: they are repeated by the next process. Lets that one begin at once. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#leaseTimer);
    clearTimeout(this.#lookTimer);
    await Promise.all([this.#leasing, this.#looking]);
    await this.#stopRunners();
    await this.store.webhookLease.release();
  }

  /** Sends a test to the receiver of a webhook, in any process, and returns what came back. */
  async test(webhook: Pick<Webhook, "project" | "id" | "record">): Promise<Answer> {
    const { url, secret } = webhook.record;
    const message = testMessage(webhook);
    const delivery: Delivery = {
      url,
      headers: signatureHeaders(message, secret),
      body: message.body,
      wantsBody: true,
    };
    return await this.#tests.run(() => this.#deps.send(delivery, this.#stop.signal));
  }

  get #isActive(): boolean {
    return !this.#stop.signal.aborted && this.store.webhookLease.isHeld;
  }

  /** Renews or takes the lease after a time in milliseconds, and from then on at intervals. */
  #lease(pause: number): void {
    if (this.#stop.signal.aborted) return;
    clearTimeout(this.#leaseTimer);
    this.#leaseTimer = setTimeout(() => {
      // A change of a webhook that comes meanwhile is seen by the next one.
      const before = this.#leasing ?? Promise.resolve();
      this.#leasing = before.then(() => this.#keepLease()).catch(this.options.onError);
    }, pause);
    Deno.unrefTimer(this.#leaseTimer);
  }

  async #keepLease(): Promise<void> {
    this.#lease(LEASE_INTERVAL);
    const { webhookLease, deliveries, webhooks } = this.store;
    const wasHeld = webhookLease.isHeld;
    const projects = new Set<string>();
    const enabled = new Set<string>();
    const searching: Omit<Webhook, "state">[] = [];
    for await (const webhook of deliveries.enabled()) {
      projects.add(webhook.project);
      enabled.add(webhook.id);
      if (webhook.record.searching) searching.push(webhook);
    }
    this.#projects = projects;
    this.#forgetOthers(enabled);
    if (projects.size === 0) {
      await this.#stopRunners();
      return await webhookLease.release();
    }
    if (this.#stop.signal.aborted || !await webhookLease.hold()) return await this.#stopRunners();
    if (!wasHeld) await webhooks.sweep();
    for (const webhook of searching) await deliveries.search(webhook);
    this.#wake();
    this.#look(this.#interval);
  }

  #wake(): void {
    this.#isWoken = true;
    this.#look(0);
  }

  /** Looks for drives that are due after a time in milliseconds, and from then on at intervals. */
  #look(pause: number): void {
    if (this.#looking !== undefined || !this.#isActive) return;
    if (pause > 0 && this.#lookTimer !== undefined) return;
    clearTimeout(this.#lookTimer);
    this.#lookTimer = setTimeout(() => {
      this.#lookTimer = undefined;
      this.#looking = this.#lookNow().catch(this.options.onError);
    }, pause);
    Deno.unrefTimer(this.#lookTimer);
  }

  async #lookNow(): Promise<void> {
    const began = performance.now();
    const state = this.store.changeProbe?.state();
    const mayHaveMore = this.#isWoken || state === undefined || state !== this.#state;
    this.#isWoken = false;
    // Read before: a commit during the look is found by the next one.
    this.#state = state;
    try {
      if (mayHaveMore && this.#isActive) await this.#offerAll();
    } finally {
      const rest = REST * (performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, Math.min(rest, SECOND)));
      this.#looking = undefined;
      this.#look(this.#isWoken ? 0 : this.#interval);
    }
  }

  async #offerAll(): Promise<void> {
    for await (const project of this.store.deliveries.dueProjects()) {
      if (!this.#isActive) return;
      await this.#offer(project);
    }
  }

  /** Offers the due drives of a project to its webhooks. */
  async #offer(project: string): Promise<void> {
    const { deliveries } = this.store;
    const { drives, more } = await deliveries.dueDrives(project, this.#from.get(project) ?? "");
    if (more) this.#from.set(project, drives.at(-1)?.drive ?? "");
    else this.#from.delete(project);
    const webhooks = await deliveries.webhooksOf(project);
    for (const due of drives) {
      const concerned = webhooks.filter(({ record }) => tellsOf(record, due.drive));
      const waiting = concerned.filter(({ id }) => this.#runnerOf(project, id).offer(due));
      // Webhooks that finish a drive at the same moment leave it due.
      if (waiting.length === 0) await deliveries.settle(project, due);
    }
  }

  #runnerOf(project: string, id: string): WebhookRunner {
    const known = this.#runners.get(id);
    if (known !== undefined) return known;
    const runner = new WebhookRunner(project, id, this.#deps);
    this.#runners.set(id, runner);
    return runner;
  }

  /** Forgets runners of webhooks that were deleted or disabled. One that is busy ends by itself and is forgotten later. */
  #forgetOthers(enabled: ReadonlySet<string>): void {
    for (const [id, runner] of this.#runners) {
      if (!enabled.has(id) && runner.isIdle) this.#runners.delete(id);
    }
  }

  async #stopRunners(): Promise<void> {
    const runners = [...this.#runners.values()];
    this.#runners.clear();
    await Promise.all(runners.map((runner) => runner.stop()));
  }
}

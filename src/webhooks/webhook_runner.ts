import { MINUTE, SECOND } from "../rules/units.ts";
import type { Semaphore } from "../rules/concurrency.ts";
import type { DeliveryRecord } from "../store/engine/records.ts";
import {
  type Batch,
  type DeliveryQueue,
  type DueDrive,
  isDueNow,
} from "../store/webhooks/delivery_queue.ts";
import { tellsOf, type Webhook } from "../store/webhooks/webhook_store.ts";
import { messageOf, signatureHeaders } from "./message.ts";
import { type Answer, type Delivery, isAccepted } from "./receiver.ts";

/** Drives that wait for one webhook in memory. Others stay due in the store, and are offered again. */
const MAX_WAITING = 1000;

/** Drives whose newest change it remembers to have delivered. */
const MAX_REMEMBERED = 5000;

/** A receiver that took longer than this, in milliseconds, waits for a slot among the slow ones. */
const SLOW = SECOND;

/** The longest wait of a timer: the next time is one of the system's clock, which may be set. */
const MAX_TIMER = MINUTE;

/** How long to wait after a failure of the store, in milliseconds. */
const ERROR_PAUSE = SECOND;

const GONE = 410;

/** The figures of deliveries, for the metrics. */
export interface DeliveryMeter {
  delivered(outcome: "accepted" | "failed", milliseconds: number, changes: number): void;
  disabled(): void;
}

/** What the runners of all webhooks have in common. */
export interface RunnerDeps {
  queue: DeliveryQueue;
  send: (delivery: Delivery, signal: AbortSignal) => Promise<Answer>;
  /** Deliveries at the same time. Receivers that fail, or are slow, have slots of their own, so they delay no others. */
  slots: { prompt: Semaphore; slow: Semaphore };
  meter: DeliveryMeter;
  /** Whether this process still delivers. */
  isActive: () => boolean;
  onError: (error: unknown) => void;
  signal: AbortSignal;
}

/**
 * Delivers for one webhook: one batch at a time, so the changes of a drive stay in order. A failure holds back all of its
 * drives, as they have one receiver.
 */
export class WebhookRunner {
  /** The drives that wait, with the newest change that was known. */
  readonly #waiting = new Map<string, string>();
  readonly #done = new Map<string, string>();
  #running: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSlow = false;

  constructor(
    private readonly project: string,
    private readonly id: string,
    private readonly deps: RunnerDeps,
  ) {}

  /** Whether nothing runs, and no drive waits. */
  get isIdle(): boolean {
    return this.#running === undefined && this.#waiting.size === 0;
  }

  /** Adds a drive. Returns `false` if its newest change was delivered. */
  offer({ drive, stamp }: DueDrive): boolean {
    if (this.#done.get(drive) === stamp) return false;
    if (this.#waiting.size < MAX_WAITING) {
      this.#waiting.set(drive, stamp);
      this.kick();
    }
    return true;
  }

  /** Goes on if there is something to do now. */
  kick(): void {
    if (this.#running !== undefined || this.#waiting.size === 0 || !this.deps.isActive()) return;
    this.#clearTimer();
    this.#running = this.#run().catch((error) => {
      this.deps.onError(error);
      this.#wait(ERROR_PAUSE);
    }).finally(() => {
      this.#running = undefined;
      // A drive may have been added just before the end.
      if (this.#timer === undefined) this.kick();
    });
  }

  /** Resolves once nothing runs any more. */
  async stop(): Promise<void> {
    this.#waiting.clear();
    await this.#running;
    this.#clearTimer();
  }

  async #run(): Promise<void> {
    const { queue, isActive } = this.deps;
    while (isActive() && this.#waiting.size > 0) {
      const webhook = await queue.read(this.project, this.id);
      if (webhook === undefined || webhook.record.disabled !== undefined) {
        return this.#waiting.clear();
      }
      const { failing } = webhook.state;
      if (!isDueNow(failing)) return this.#wait((failing?.next ?? 0) - Date.now());
      const [first = ""] = this.#waiting.keys();
      const drive = failing?.pending?.drive ?? first;
      const batch = await queue.next(webhook, drive);
      const isEmpty = batch.changes.length === 0 || !tellsOf(webhook.record, drive);
      if (isEmpty) await queue.finish(batch);
      else if (!await this.#deliver(batch)) continue;
      if (!batch.more) this.#forget(batch);
    }
  }

  /** Returns whether the batch was accepted. */
  async #deliver(batch: Batch): Promise<boolean> {
    const { queue, slots, send, meter, signal } = this.deps;
    const { webhook, drive, changes } = batch;
    const { prompt, slow } = slots;
    const slot = this.#isSlow || webhook.state.failing !== undefined ? slow : prompt;
    const release = await slot.acquire();
    let answer: Answer;
    try {
      if (!this.deps.isActive()) return false;
      answer = await send(deliveryOf(webhook, batch), signal);
    } finally {
      release();
    }
    // What is not known is tried again, by whichever process is next.
    if (signal.aborted && answer.status === undefined) return false;
    this.#isSlow = answer.duration > SLOW;
    const { status, problem } = answer;
    const delivery: DeliveryRecord = {
      at: Date.now(),
      ...(status === undefined ? {} : { status }),
      ...(problem === undefined ? {} : { problem }),
      drive,
      changes: changes.length,
    };
    meter.delivered(isAccepted(answer) ? "accepted" : "failed", answer.duration, changes.length);
    if (isAccepted(answer)) {
      await queue.finish(batch, delivery);
      return true;
    }
    const reason = await queue.fail(batch, delivery, status === GONE);
    if (reason !== undefined) meter.disabled();
    return false;
  }

  /** Forgets a drive whose end was reached, unless it has a newer change. */
  #forget({ drive, due }: Batch): void {
    const known = this.#waiting.get(drive);
    if (due !== null) {
      if (this.#done.size >= MAX_REMEMBERED) this.#done.clear();
      this.#done.set(drive, due);
    }
    if (known !== undefined && (due === null || known <= due)) this.#waiting.delete(drive);
  }

  #wait(time: number): void {
    this.#clearTimer();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.kick();
    }, Math.min(Math.max(0, time), MAX_TIMER));
    Deno.unrefTimer(this.#timer);
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function deliveryOf(webhook: Webhook, { drive, changes }: Batch): Delivery {
  const message = messageOf(webhook, drive, changes);
  const { url, secret } = webhook.record;
  return { url, headers: signatureHeaders(message, secret), body: message.body };
}

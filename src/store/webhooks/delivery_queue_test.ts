import { assert, assertEquals, assertRejects } from "@std/assert";
import { DAY, HOUR, SECOND } from "../../rules/units.ts";
import { ChangesOff, TooManyWebhooks } from "../engine/errors.ts";
import { keys, prefixes } from "../engine/keys.ts";
import type { DeliveryRecord, ProjectRecord } from "../engine/records.ts";
import { bytes, DRIVE, place } from "../testing/bodies.ts";
import { withFeed } from "../testing/changes.ts";
import { put, putAt } from "../testing/files.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { type Batch, isDueNow, pauseAfter } from "./delivery_queue.ts";
import { MAX_WEBHOOKS, type NewWebhook, type Webhook } from "./webhook_store.ts";

const { project, drive } = DRIVE;

async function addWebhook({ store }: TestStore, more: Partial<NewWebhook> = {}): Promise<Webhook> {
  const wanted = { name: "a", url: "https://hooks.example.com", ...more };
  const { id } = await store.webhooks.create(project, wanted);
  return await current({ store }, id);
}

async function current({ store }: Pick<TestStore, "store">, id: string): Promise<Webhook> {
  const webhook = await store.webhooks.get(project, id);
  assert(webhook !== undefined);
  return webhook;
}

function attempt(at = Date.now(), status = 200): DeliveryRecord {
  return { at, status, drive, changes: 1 };
}

function namesOf({ changes }: Batch): string[] {
  return changes.map(({ name }) => name);
}

async function dueDrives({ store }: TestStore): Promise<string[]> {
  return (await store.deliveries.dueDrives(project, "")).drives.map(({ drive }) => drive);
}

/** Delivers what a webhook has for the drive. Returns the names. */
async function deliverAll(bench: TestStore, id: string): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const batch = await bench.store.deliveries.next(await current(bench, id), drive);
    names.push(...namesOf(batch));
    await bench.store.deliveries.finish(batch, batch.changes.length > 0 ? attempt() : undefined);
    if (!batch.more) return names;
  }
}

testOnAll(
  "A webhook begins after its creation, and is done with what was accepted",
  async (bench) => {
    await assertRejects(() => addWebhook(bench), ChangesOff);
    await withFeed(bench);
    await put(bench, "before", bytes(1));
    const { id } = await addWebhook(bench);
    assertEquals(await dueDrives(bench), []);
    await put(bench, "a", bytes(1));
    await put(otherProcess(bench), "b", bytes(1));
    assertEquals(await dueDrives(bench), [drive]);
    assertEquals(await bench.store.webhooks.countPending(await current(bench, id)), 2);
    assertEquals(await deliverAll(bench, id), ["a", "b"]);
    assertEquals(await dueDrives(bench), []);
    assertEquals(await bench.store.webhooks.countPending(await current(bench, id)), 0);
    assertEquals(await deliverAll(bench, id), []);
  },
);

testOnAll("A drive stays due until all webhooks have told of it", async (bench) => {
  await withFeed(bench);
  const [first, second, other] = [
    await addWebhook(bench),
    await addWebhook(bench, { types: ["move"] }),
    await addWebhook(bench, { drives: ["other"] }),
  ];
  await put(bench, "a", bytes(1));
  await deliverAll(bench, first.id);
  assertEquals(await dueDrives(bench), [drive]);
  assertEquals(await deliverAll(bench, second.id), []);
  assertEquals(await dueDrives(bench), []);
  await putAt(bench, { ...place("x"), drive: "other" }, bytes(1));
  assertEquals(await dueDrives(bench), ["other"]);
  await bench.store.deliveries.settle(project, { drive: "other", stamp: "f".repeat(20) });
  assertEquals(await dueDrives(bench), ["other"]);
  assertEquals(await bench.store.webhooks.countPending(await current(bench, other.id)), 1);
});

testOnAll("A change that is made during a delivery keeps the drive due", async (bench) => {
  await withFeed(bench);
  const { id } = await addWebhook(bench);
  await put(bench, "a", bytes(1));
  const batch = await bench.store.deliveries.next(await current(bench, id), drive);
  assertEquals(batch.more, false);
  await put(bench, "b", bytes(1));
  await bench.store.deliveries.finish(batch, attempt());
  assertEquals(await dueDrives(bench), [drive]);
  assertEquals(await deliverAll(bench, id), ["b"]);
});

testOnAll("Of two processes that deliver the same, one moves the cursor", async (bench) => {
  await withFeed(bench);
  const { id } = await addWebhook(bench);
  await put(bench, "a", bytes(1));
  const webhook = await current(bench, id);
  const [one, two] = [
    await bench.store.deliveries.next(webhook, drive),
    await otherProcess(bench).store.deliveries.next(webhook, drive),
  ];
  await bench.store.deliveries.finish(one, attempt());
  await put(bench, "b", bytes(1));
  await otherProcess(bench).store.deliveries.finish(two, attempt());
  assertEquals((await current(bench, id)).state.deliveries.length, 1);
  assertEquals(await deliverAll(bench, id), ["b"]);
});

testOnAll("A delivery that failed is the same again, and later", async (bench) => {
  await withFeed(bench);
  const { id } = await addWebhook(bench);
  await put(bench, "a", bytes(1));
  const { store: { deliveries } } = bench;
  const first = await deliveries.next(await current(bench, id), drive);
  assertEquals(await deliveries.fail(first, attempt(Date.now(), 500), false), undefined);
  const { failing } = (await current(bench, id)).state;
  assert(failing !== undefined && !isDueNow(failing) && isDueNow(failing, failing.next));
  assertEquals(isDueNow(failing, failing.next - 2 * HOUR), true);
  await put(bench, "b", bytes(1));
  const again = await deliveries.next(await current(bench, id), drive);
  assertEquals([namesOf(again), again.more], [["a"], true]);
  await deliveries.finish(again, attempt());
  assertEquals((await current(bench, id)).state.failing, undefined);
  assertEquals(await deliverAll(bench, id), ["b"]);
});

Deno.test("Pauses double from five seconds to an hour", () => {
  const pauses = Array.from({ length: 12 }, (_, i) => pauseAfter(i + 1) / SECOND);
  assertEquals(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
});

testOnAll(
  "A receiver that fails for three days, or is gone, disables the webhook",
  async (bench) => {
    await withFeed(bench);
    const { store: { deliveries, webhooks } } = bench;
    const { id } = await addWebhook(bench);
    await put(bench, "a", bytes(1));
    const fail = async (at: number, isGone = false) =>
      await deliveries.fail(
        await deliveries.next(await current(bench, id), drive),
        attempt(at, 500),
        isGone,
      );
    const start = Date.now() - 3 * DAY;
    assertEquals(await fail(start), undefined);
    assertEquals(await fail(start + 3 * DAY - HOUR), undefined);
    assertEquals(await fail(start + 3 * DAY), "failing");
    const { record, state } = await current(bench, id);
    assertEquals([record.disabled?.reason, state.failing?.attempts], ["failing", 3]);
    assertEquals(await deliveries.webhooksOf(project), []);
    assertEquals((await webhooks.summary()).ended, [{ project, name: "a" }]);
    const events = await bench.store.events.list(project, { limit: 1, last: "" });
    assertEquals(events.events.map(({ event, by }) => [event, by]), [[
      "webhook.disabled",
      "server",
    ]]);
    // It goes on where it was.
    for (const { drive, stamp } of (await deliveries.dueDrives(project, "")).drives) {
      await deliveries.settle(project, { drive, stamp });
    }
    assertEquals(await dueDrives(bench), []);
    await webhooks.update(project, id, { enabled: true });
    assertEquals((await current(bench, id)).state.failing, undefined);
    await deliveries.search({ project, id });
    assertEquals(await dueDrives(bench), [drive]);
    assertEquals(await deliverAll(bench, id), ["a"]);
    await put(bench, "b", bytes(1));
    assertEquals(await fail(Date.now(), true), "gone");
  },
);

testOnAll("A failure of what was changed meanwhile does not count", async (bench) => {
  await withFeed(bench);
  const { id } = await addWebhook(bench);
  await put(bench, "a", bytes(1));
  const batch = await bench.store.deliveries.next(await current(bench, id), drive);
  await bench.store.webhooks.update(project, id, { url: "https://other.example.com" });
  assertEquals(await bench.store.deliveries.fail(batch, attempt(0, 410), true), undefined);
  const { record, state } = await current(bench, id);
  assertEquals([record.disabled, state.failing], [undefined, undefined]);
});

testOnAll("What has expired is passed over, and noted", async (bench) => {
  await withFeed(bench, 1);
  const { id } = await addWebhook(bench);
  await put(bench, "a", bytes(1));
  await bench.store.sweeper.sweep(Date.now() + 2 * DAY);
  await put(bench, "b", bytes(1));
  assertEquals(await deliverAll(bench, id), ["b"]);
  assert((await current(bench, id)).state.missed !== undefined);
  await put(bench, "c", bytes(1));
  await bench.store.webhooks.update(project, id, { enabled: true });
  await deliverAll(bench, id);
  await bench.store.sweeper.sweep(Date.now() + 2 * DAY);
  assertEquals(await deliverAll(bench, id), []);
  assertEquals((await current(bench, id)).state.missed, undefined);
});

testOnAll("A batch has a hundred changes at most, and 128 KiB", async (bench) => {
  await withFeed(bench);
  const { id } = await addWebhook(bench);
  const long = "x".repeat(1000);
  await Promise.all(
    Array.from({ length: 250 }, (_, i) => put(bench, i < 120 ? `${i}` : `${i}${long}`, bytes(1))),
  );
  const sizes: number[] = [];
  let batch: Batch;
  do {
    batch = await bench.store.deliveries.next(await current(bench, id), drive);
    const size = JSON.stringify(batch.changes).length;
    assert(batch.changes.length <= 100 && size < 130 * 1024, `${batch.changes.length} ${size}`);
    sizes.push(batch.changes.length);
    await bench.store.deliveries.finish(batch, attempt());
  } while (batch.more);
  assertEquals(sizes.reduce((sum, size) => sum + size), 250);
});

testOnAll("A project has a number of webhooks, and leaves none", async (bench) => {
  await withFeed(bench);
  const all = await Array.fromAsync(Array.from({ length: MAX_WEBHOOKS }), () => addWebhook(bench));
  await assertRejects(() => addWebhook(bench), TooManyWebhooks);
  await put(bench, "a", bytes(1));
  const [first, ...others] = all;
  assert(first !== undefined);
  await deliverAll(bench, first.id);
  assertEquals(await bench.store.webhooks.delete(project, first.id), true);
  assertEquals(await bench.store.webhooks.delete(project, first.id), false);
  const { reader } = bench.db;
  const left = async () => {
    const kinds = ["webhook", "webhook_state", "webhook_cursor", "webhook_due"] as const;
    const lists = kinds.map((kind) => Array.fromAsync(reader.list({ prefix: prefixes.all(kind) })));
    return (await Promise.all(lists)).map(({ length }) => length);
  };
  assertEquals(await left(), [MAX_WEBHOOKS - 1, 0, 0, 1]);
  for (const { id } of others) await bench.store.webhooks.delete(project, id);
  const owner = await reader.get<ProjectRecord>(keys.project(project));
  assertEquals(owner.value?.webhooks, undefined);
  await addWebhook(bench);
  await put(bench, "b", bytes(1));
  await bench.store.projects.delete(project);
  await bench.store.sweeper.sweep();
  assertEquals(await left(), [0, 0, 0, 0]);
});

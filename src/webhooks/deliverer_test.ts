import { assert, assertEquals } from "@std/assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AllowedUpstreams, FOR_WEBHOOKS, UpstreamRules } from "../http/network/upstream_rules.ts";
import { bytes, DRIVE } from "../store/testing/bodies.ts";
import { withFeed } from "../store/testing/changes.ts";
import { put } from "../store/testing/files.ts";
import { testOnAll } from "../store/testing/stores.ts";
import { until } from "../store/testing/time.ts";
import { WebhookDeliverer } from "./deliverer.ts";

const LOOPBACK = AllowedUpstreams.parse("127.0.0.1");

testOnAll("Nothing stays in memory of webhooks that were deleted or disabled", async (bench) => {
  assert(LOOPBACK !== undefined);
  const { store } = bench;
  const received = new Set<string>();
  const receiver = createServer((request, response) => {
    received.add(request.url ?? "");
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const deliverer = new WebhookDeliverer(store, {
    rules: new UpstreamRules(LOOPBACK, new Set(), FOR_WEBHOOKS),
    meter: { delivered: () => {}, disabled: () => {} },
    onError: (error) => assertEquals(error, undefined),
  });
  deliverer.start();
  await withFeed(bench);
  const ids: string[] = [];
  for (const name of ["kept", "deleted", "disabled"]) {
    const url = `http://127.0.0.1:${port}/${name}`;
    ids.push((await store.webhooks.create(DRIVE.project, { name, url })).id);
  }
  const [kept = "", deleted = "", disabled = ""] = ids;
  await put(bench, "a", bytes(1));
  await until(() => received.size === 3);
  const due = async () => (await store.deliveries.dueDrives(DRIVE.project, "")).drives;
  await until(async () => (await due()).length === 0);
  assertEquals(deliverer.known.toSorted(), ids.toSorted());
  await store.webhooks.delete(DRIVE.project, deleted);
  await store.webhooks.update(DRIVE.project, disabled, { enabled: false });
  // A runner that is still busy is forgotten some seconds later.
  await until(() => deliverer.known.length === 1);
  assertEquals(deliverer.known, [kept]);
  await deliverer.stop();
  await new Promise((resolve) => receiver.close(resolve));
});

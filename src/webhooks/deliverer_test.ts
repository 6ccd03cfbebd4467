import { assert, assertEquals } from "@std/assert";
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
  await using receiver = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    received.add(new URL(request.url).pathname);
    return new Response(null, { status: 204 });
  });
  const deliverer = new WebhookDeliverer(store, {
    rules: new UpstreamRules(LOOPBACK, new Set(), FOR_WEBHOOKS),
    meter: { delivered: () => {}, disabled: () => {} },
    onError: (error) => assertEquals(error, undefined),
  });
  deliverer.start();
  await withFeed(bench);
  const ids: string[] = [];
  for (const name of ["kept", "deleted", "disabled"]) {
    const url = `http://127.0.0.1:${receiver.addr.port}/${name}`;
    ids.push((await store.webhooks.create(DRIVE.project, { name, url })).id);
  }
  const [kept = "", deleted = "", disabled = ""] = ids;
  await put(bench, "a", bytes(1));
  await until(() => received.size === 3);
  assertEquals(deliverer.known.toSorted(), ids.toSorted());
  await store.webhooks.delete(DRIVE.project, deleted);
  await store.webhooks.update(DRIVE.project, disabled, { enabled: false });
  // A delivery may be about to end, and the next look is some seconds later.
  await until(() => deliverer.known.length === 1);
  assertEquals(deliverer.known, [kept]);
  await deliverer.stop();
});

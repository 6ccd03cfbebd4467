import { assert, assertEquals, assertGreaterOrEqual, assertMatch } from "@std/assert";
import { ADMINISTERED, administrator, fromNewAddress, Project, withKey } from "../support/admin.ts";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Drive } from "../support/drive.ts";
import { Gate } from "../support/gate/gate.ts";
import { UpstreamApp } from "../support/gate/upstream_app.ts";
import { lineOf } from "../support/log.ts";
import { rawRequest, sendAndDisconnect } from "../support/raw.ts";
import { TestServer } from "../support/server.ts";

const METRICS_TOKEN = "token-for-the-metrics-0123456789";
const OPTIONS = { env: { ...ADMINISTERED.env, KVDRIVE_METRICS_TOKEN: METRICS_TOKEN } };
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

async function read(server: { origin: string }): Promise<string> {
  const answer = await fetch(`${server.origin}/metrics`, { headers: bearer(METRICS_TOKEN) });
  assertEquals(answer.status, 200);
  return await answer.text();
}

/** A figure by its name and labels as they stand; 0 where there is none. */
function figure(text: string, series: string): number {
  const line = text.split("\n").find((line) => line.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

/** Reads until a figure has a value: what is counted at the end of a request is so a moment after the answer. */
async function reach(server: { origin: string }, series: string, wanted: number): Promise<string> {
  const end = Date.now() + 60_000;
  for (;;) {
    const text = await read(server);
    if (figure(text, series) === wanted) return text;
    assert(Date.now() < end, `${series} is ${figure(text, series)}, not ${wanted}`);
  }
}

Deno.test("Only the administrator token and the metrics token can read metrics.", async () => {
  await using server = await TestServer.start(OPTIONS);
  const ask = (headers: Record<string, string>) => fetch(`${server.origin}/metrics`, { headers });
  for (const headers of [administrator, bearer(METRICS_TOKEN)]) {
    const answer = await ask(headers);
    assertEquals(answer.status, 200);
    assertEquals(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    assertMatch(answer.headers.get("cache-control") ?? "", /^no-store\b/);
    assertEquals(answer.headers.get("access-control-allow-origin"), null);
    assertMatch(await answer.text(), /^# HELP kvdrive_http_requests_total /);
  }
  const project = await Project.make(server);
  for (
    const headers of [
      {},
      withKey(project.key),
      fromNewAddress(bearer(`${METRICS_TOKEN}x`)),
      fromNewAddress(bearer("x".repeat(999))),
    ]
  ) {
    const answer = await ask(headers);
    assertEquals(answer.status, 401, await answer.text());
    assertMatch(answer.headers.get("www-authenticate") ?? "", /^Bearer/);
  }
  const elsewhere = await fetch(`${server.origin}/admin/v1/projects`, {
    headers: fromNewAddress(bearer(METRICS_TOKEN)),
  });
  assertEquals(elsewhere.status, 401, await elsewhere.text());
});

Deno.test("Wrong tokens count as wrong keys do.", async () => {
  await using server = await TestServer.start(OPTIONS);
  const headers = fromNewAddress(bearer("wrong-token-wrong-token-wrong"));
  const statuses = [];
  for (let i = 0; i < 21; i++) {
    const answer = await fetch(`${server.origin}/metrics`, { headers });
    await answer.body?.cancel();
    statuses.push(answer.status);
  }
  assertEquals([...new Set(statuses.slice(0, 20)), statuses[20]], [401, 429]);
});

Deno.test("The counters match the requests, also for 500 concurrent ones.", async () => {
  await using server = await TestServer.start(OPTIONS);
  const drive = new Drive(server, "drive");
  const size = 1000;
  await Promise.all(
    Array.from({ length: 250 }, (_, i) => drive.put(`${i}`, patternBytes(size, i))),
  );
  await Promise.all(
    Array.from(
      { length: 500 },
      (_, i) => i % 2 === 0 ? drive.get(`${i / 2}`) : drive.get(`nothing-${i}`),
    ),
  );
  const route = 'route="/v1/{project}/{drive}/files/download"';
  const requests = (status: number) =>
    `kvdrive_http_requests_total{${route},method="GET",status="${status}"}`;
  await reach(server, requests(404), 250);
  const text = await reach(server, requests(200), 250);
  const files = 'route="/v1/{project}/{drive}/files"';
  assertEquals(
    figure(text, `kvdrive_http_requests_total{${files},method="POST",status="201"}`),
    250,
  );
  assertEquals(figure(text, `kvdrive_http_received_bytes_total{${files}}`), 250 * size);
  assertGreaterOrEqual(figure(text, `kvdrive_http_sent_bytes_total{${route}}`), 250 * size);
  assertEquals(figure(text, `kvdrive_http_request_duration_seconds_count{${route}}`), 500);
  assertEquals(
    figure(text, `kvdrive_http_request_duration_seconds_bucket{${route},le="+Inf"}`),
    500,
  );
  assertEquals(figure(text, 'kvdrive_http_running{kind="upload"}'), 0);
  assertEquals(figure(text, 'kvdrive_http_running{kind="download"}'), 0);
  assertGreaterOrEqual(figure(text, "kvdrive_store_commit_members_sum"), 250);
  assertEquals(
    figure(text, "kvdrive_store_commit_members_count"),
    figure(text, 'kvdrive_store_commits_total{outcome="done"}'),
  );
  assertGreaterOrEqual(figure(text, "kvdrive_store_size_bytes"), 250 * size);
  assert(figure(text, "kvdrive_disk_free_bytes") <= figure(text, "kvdrive_disk_total_bytes"));
  // The figures of projects may be some seconds old, so another process is not asked before they are told.
  assertEquals(figure(text, 'kvdrive_project_files{project="test-project"}') <= 250, true);
});

Deno.test("The usage of projects is exported without drives that are being deleted.", async () => {
  await using server = await TestServer.start(OPTIONS);
  const project = await Project.make(server, { project_id: "kept" });
  const gone = await Project.make(server, { project_id: "gone" });
  for (const { id, key } of [project, gone]) {
    const init = { method: "POST", body: "12345", project: id, key };
    for (const name of ["a", "b"]) {
      for (const drive of ["one", "two"]) {
        const answer = await server.fetch(drive, `/files?name=${name}`, init);
        assertEquals(answer.status, 201, await answer.text());
      }
    }
  }
  (await gone.call("DELETE", "")).expect(202);
  (await project.call("DELETE", "/drives/two")).expect(202);
  const text = await read(server);
  assertEquals(figure(text, 'kvdrive_project_files{project="kept"}'), 2);
  assertEquals(figure(text, 'kvdrive_project_bytes{project="kept"}'), 10);
  assertEquals(figure(text, 'kvdrive_project_files{project="test-project"}'), 0);
  assertEquals(text.includes('"gone"'), false);
  assertEquals(figure(text, "kvdrive_projects"), 2);
});

Deno.test("After traffic of all kinds every label is one of the documented values.", async () => {
  await using upstream = new UpstreamApp();
  await using gate = await Gate.start(OPTIONS);
  const { server } = gate;
  const key = await gate.protect(upstream.origin);
  await (await gate.fetch("/echo", { headers: withKey(key) })).bytes();
  await (await gate.fetch("/echo")).bytes();
  const drive = new Drive(server, "drive");
  await drive.put("large", patternBytes(MIB, 1));
  await drive.get("large");
  const head = { "Content-Length": "1000", "X-Request-Id": "cut" };
  await sendAndDisconnect(server.port, rawRequest("POST", "/v1/test-project/d/files?name=a", head));
  await lineOf(server, "cut");
  for (const path of ["/nothing", "/v1/a%22b/c", "/healthz", "/readyz", "/"]) {
    for (const method of ["GET", "PROPFIND", "OPTIONS", "DELETE"]) {
      await (await fetch(server.origin + path, { method })).bytes();
    }
  }
  await reach(server, 'kvdrive_gate_requests_total{outcome="forwarded"}', 1);
  const text = await reach(server, 'kvdrive_gate_requests_total{outcome="refused"}', 1);
  const labels = [...text.matchAll(/(?:route|method|status)="([^"]*)"/g)].map(([, label = ""]) =>
    label
  );
  for (const label of labels) {
    assertMatch(label, /^(-|gate|other|[A-Z]+|\d{3}|none|\/[/{}a-z0-9]*)$/);
  }
  assertEquals(figure(text, 'kvdrive_http_aborted_total{route="/v1/{project}/{drive}/files"}'), 1);
});

Deno.test("The memory budget is exported by part, with the use of each.", async () => {
  const args = ["--memory-budget", "80MiB"];
  await using server = await TestServer.start({ ...OPTIONS, args });
  const drive = new Drive(server, "metrics");
  await drive.put("small", patternBytes(1000, 1));
  await drive.get("small");
  const text = await read(server);
  const parts = { uploads: 30, downloads: 25, json: 10, caches: 15 };
  for (const [part, size] of Object.entries(parts)) {
    assertEquals(figure(text, `kvdrive_memory_budget_bytes{part="${part}"}`), size * MIB);
    assert(figure(text, `kvdrive_memory_used_bytes{part="${part}"}`) <= size * MIB);
    assertEquals(figure(text, `kvdrive_memory_refused_total{part="${part}"}`), 0);
  }
  for (const part of ["uploads", "downloads", "json"]) {
    await reach(server, `kvdrive_memory_used_bytes{part="${part}"}`, 0);
  }
});

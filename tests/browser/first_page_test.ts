import { assert, assertEquals, assertLess } from "@std/assert";
import type { Page } from "playwright-core";
import type { Fixture } from "./support/fixture.ts";
import { secretField, submitSecret } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";
import { VersionProxy } from "./support/version_proxy.ts";

/** Maximum bytes of the first page. */
const MAX_BYTES = 60_000;
/** Maximum bytes of a reload: headers only. */
const MAX_RELOAD_BYTES = 10_000;
/** Time until the user can type. */
const MAX_READY = 200;
/** Other processes only slow a load down, so one load within the limit proves that the page is fast enough. */
const MAX_LOADS = 100;

const test = suite("The first page");

interface Load {
  bytes: number;
  ready: number;
  requests: string[];
}

/** Loads the page without a cache. Measures the received bytes, with headers, and the time until the user can type. */
async function load({ context, server }: Fixture): Promise<Load> {
  const page = await context.newPage();
  const network = await context.newCDPSession(page);
  await network.send("Network.enable");
  await network.send("Network.setCacheDisabled", { cacheDisabled: true });
  let bytes = 0;
  network.on("Network.loadingFinished", ({ encodedDataLength }) => bytes += encodedDataLength);
  const requests: string[] = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  await recordReadiness(page);
  await page.goto(server.origin, { waitUntil: "networkidle" });
  await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined);
  const ready = await page.evaluate(() => Number(document.documentElement.dataset.ready));
  await page.close();
  return { bytes, ready, requests };
}

/** Records the time at which the field has the focus and is about to be painted. */
async function recordReadiness(page: Page): Promise<void> {
  await page.addInitScript(() => {
    document.addEventListener("focusin", () =>
      requestAnimationFrame(() => {
        document.documentElement.dataset.ready ??= String(performance.now());
      }));
  });
}

test("It is small and soon ready for typing", async (fixture) => {
  const times: number[] = [];
  while (times.length < MAX_LOADS && !times.some((time) => time < MAX_READY)) {
    const { bytes, ready, requests } = await load(fixture);
    assert(bytes > 1000, "No bytes were counted");
    assertLess(bytes, MAX_BYTES, `${bytes} bytes for ${requests.join(" ")}`);
    times.push(ready);
  }
  assertLess(Math.min(...times), MAX_READY, `Ready after ${times.join(", ")} ms`);
});

test("Everything is loaded from the server itself", async ({ page, server }) => {
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  await page.goto(server.origin, { waitUntil: "networkidle" });
  assert(requested.length > 3, "No requests were recorded");
  for (const url of requested) assert(url.startsWith(`${server.origin}/`), url);
});

test("A second visit asks for the page only, and a view needs nothing more", async (fixture) => {
  await using proxy = new VersionProxy(fixture.server);
  const version = await fixture.server.dashboardVersion();
  assertEquals(await visit(fixture, proxy), ["/", ...filesOf(version)]);
  assertEquals(await visit(fixture, proxy), ["/"]);
  const page = await fixture.context.newPage();
  await page.goto(proxy.origin);
  await submitSecret(page, fixture.project.key);
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  await page.waitForLoadState("networkidle");
  await page.close();
  assertEquals(proxy.takeRequests().filter((path) => path.startsWith("/dashboard/")), []);
});

test("After an update, a visit loads the new files and none of the old ones", async (fixture) => {
  await using proxy = new VersionProxy(fixture.server);
  await visit(fixture, proxy);
  const next = "0123456789abcdef";
  proxy.pretended = next;
  assertEquals(await visit(fixture, proxy), ["/", ...filesOf(next)]);
  assertEquals(await visit(fixture, proxy), ["/"]);
});

/** The paths of the files that the page names. */
function filesOf(version: string): string[] {
  return ["icon.svg", "main.css", "main.js"].map((name) => `/dashboard/${version}/${name}`);
}

/** Opens the page in a new tab. @returns the paths that were requested from the server, sorted. */
async function visit({ context }: Fixture, proxy: VersionProxy): Promise<string[]> {
  const page = await context.newPage();
  await page.goto(proxy.origin, { waitUntil: "networkidle" });
  await secretField(page).waitFor();
  await page.close();
  return proxy.takeRequests().toSorted();
}

test("A reload transfers headers only", async ({ page, context, server }) => {
  await page.goto(server.origin, { waitUntil: "networkidle" });
  const network = await context.newCDPSession(page);
  await network.send("Network.enable");
  let bytes = 0;
  network.on("Network.loadingFinished", ({ encodedDataLength }) => bytes += encodedDataLength);
  await page.reload({ waitUntil: "networkidle" });
  await secretField(page).waitFor();
  assertLess(bytes, MAX_RELOAD_BYTES);
});

test("Its headers forbid foreign scripts, frames and inline code", async ({ server }) => {
  const response = await fetch(server.origin);
  const policy = response.headers.get("content-security-policy") ?? "";
  const text = await response.text();
  for (
    const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
    ]
  ) {
    assert(policy.split("; ").includes(part), policy);
  }
  assert(!/unsafe|data:|https?:|\*/.test(policy), policy);
  assertEquals(response.headers.get("referrer-policy"), "no-referrer");
  assertEquals(response.headers.get("access-control-allow-origin"), null);
  assert(
    !/<style|style=|<script(?![^>]*src=)|\son\w+=/i.test(text),
    "The page has inline scripts or styles",
  );
});

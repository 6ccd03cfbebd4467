import { assertEquals } from "@std/assert";
import { DelayingProxy } from "./support/delaying_proxy.ts";
import { signInAsOwner } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";
import { openFolder } from "./support/uploads.ts";

const test = suite("Many uploads");

/** Small files that are dropped at once. */
const COUNT = Number(Deno.env.get("KVDRIVE_UPLOADS") ?? 300);
/** Milliseconds in each direction. */
const DELAY = 20;
/** Between these uploads all places are taken. */
const BUSY = [20, COUNT - 20] as const;

test("Many small files arrive over a line with latency", async (fixture) => {
  await using proxy = new DelayingProxy(fixture.server, DELAY);
  const { page, project } = fixture;
  await signInAsOwner(fixture, proxy.origin);
  await openFolder(fixture, "many");
  const requests: string[] = [];
  page.on("request", (request) => {
    requests.push(`${request.method()} ${new URL(request.url()).pathname.split("/").at(-1)}`);
  });
  const began = performance.now();
  await page.evaluate((count) => {
    const dataTransfer = new DataTransfer();
    for (let index = 0; index < count; index++) {
      dataTransfer.items.add(new File(["x".repeat(4000)], `file-${index}.txt`));
    }
    const view = document.querySelector(".files-view")!;
    for (const type of ["dragenter", "dragover", "drop"]) {
      const options = { dataTransfer, bubbles: true, cancelable: true };
      view.dispatchEvent(new DragEvent(type, options));
    }
  }, COUNT);
  // One name: to find a text in the whole page again and again takes its time.
  await page.locator(`[aria-rowcount="${COUNT + 1}"]`).waitFor();
  // deno-lint-ignore no-console -- the figure is for those who tune it
  console.log(`${COUNT} files: ${Math.round(performance.now() - began)} ms`);
  assertEquals((await project.drive("many").usage())?.files, COUNT);
  // While most of them were on their way: uploads change no links.
  const [first, last] = BUSY.map((nth) => indexOfUpload(requests, nth));
  assertEquals(requests.slice(first, last).filter((request) => request === "GET links"), []);
  // The page loads the list once more.
  await page.goto("about:blank");
});

function indexOfUpload(requests: readonly string[], nth: number): number {
  let count = 0;
  return requests.findIndex((request) => request === "POST files" && ++count === nth);
}

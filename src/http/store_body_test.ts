import { assertEquals, assertRejects } from "@std/assert";
import { HttpError } from "./http_error.ts";
import { RunningUploads, UploadSlots } from "./store_body.ts";

const LONG = 60_000;

/** An upload that runs until a test ends it. */
class Upload {
  readonly #gate = Promise.withResolvers<void>();
  readonly ended: Promise<void>;
  isRunning = false;

  constructor(slots: UploadSlots, project: string, onStart: () => void = () => {}) {
    this.ended = slots.run(project, async () => {
      this.isRunning = true;
      onStart();
      await this.#gate.promise;
      this.isRunning = false;
    });
  }

  async end(): Promise<void> {
    this.#gate.resolve();
    await this.ended;
  }
}

/** Starts uploads of a project; some run, the others wait. */
async function begin(slots: UploadSlots, project: string, count: number): Promise<Upload[]> {
  const uploads = Array.from({ length: count }, () => new Upload(slots, project));
  await Promise.resolve();
  return uploads;
}

function running(uploads: readonly Upload[]): number {
  return uploads.filter(({ isRunning }) => isRunning).length;
}

async function endAll(uploads: readonly Upload[]): Promise<void> {
  await Promise.all(uploads.map((upload) => upload.end()));
}

Deno.test("no more uploads run at once than there are slots, and each gets one in turn", async () => {
  const slots = new UploadSlots({ max: 2, maxWait: LONG });
  let running = 0;
  let most = 0;
  const order: number[] = [];
  await Promise.all([0, 1, 2, 3, 4, 5].map((n) =>
    slots.run("p", async () => {
      most = Math.max(most, ++running);
      order.push(n);
      await Promise.resolve();
      running--;
    })
  ));
  assertEquals({ most, order: order.toSorted() }, { most: 2, order: [0, 1, 2, 3, 4, 5] });
});

Deno.test("an upload that waits too long is 503 with Retry-After and takes no slot later", async () => {
  const slots = new UploadSlots({ max: 1, maxWait: 5 });
  const first = new Upload(slots, "p");
  const refused = await assertRejects(() => slots.run("p", () => Promise.resolve()), HttpError);
  assertEquals([refused.status, refused.headers["Retry-After"]], [503, "1"]);
  await first.end();
  assertEquals(await slots.run("p", () => Promise.resolve("next")), "next");
});

Deno.test("a failed upload frees its slot", async () => {
  const slots = new UploadSlots({ max: 1, maxWait: 1000 });
  const broken = () => slots.run("p", () => Promise.reject(new Error("broken")));
  await assertRejects(broken, Error, "broken");
  assertEquals(await slots.run("p", () => Promise.resolve(1)), 1);
});

Deno.test("another project gets a slot at once beside a project with many uploads", async () => {
  const slots = new UploadSlots({ max: 64, maxWait: LONG });
  const hostile = await begin(slots, "hostile", 200);
  const second = await begin(slots, "second", 200);
  const third = await begin(slots, "third", 200);
  assertEquals([hostile, second, third].map(running), [48, 12, 3]);
  assertEquals(await slots.run("fourth", () => Promise.resolve("at once")), "at once");
  await Promise.all([hostile, second, third].map(endAll));
  assertEquals(running(await begin(slots, "alone", 48)), 48);
});

Deno.test("free slots go to the projects in turn", async () => {
  const slots = new UploadSlots({ max: 4, maxWait: LONG });
  const order: string[] = [];
  const runs = (project: string) => new Upload(slots, project, () => order.push(project));
  const first = Array.from({ length: 3 }, () => runs("a"));
  const waiting = ["a", "a", "a", "a", "b", "b", "c"].map(runs);
  await endAll(first);
  await Promise.resolve();
  assertEquals(order.slice(0, 4), ["a", "a", "a", "b"]);
  await endAll(waiting);
  assertEquals(order.slice(4), ["a", "b", "c", "a", "a", "a"]);
});

Deno.test("the number of waiting uploads is limited for each project", async () => {
  const slots = new UploadSlots({ max: 2, maxWait: LONG, maxWaiting: 3 });
  const uploads = await begin(slots, "hostile", 5);
  const refused = await assertRejects(() => slots.run("hostile", async () => {}), HttpError);
  assertEquals([refused.status, refused.headers["Retry-After"]], [503, "1"]);
  const other = slots.run("other", () => Promise.resolve("in its turn"));
  await endAll(uploads.slice(0, 2));
  assertEquals(await other, "in its turn");
  await endAll(uploads);
});

function upload(): Request {
  return new Request("http://kv.example/", { method: "POST", body: "a" });
}

Deno.test("the result or the error of the work is passed on", async () => {
  const running = new RunningUploads();
  for (const request of [upload(), new Request("http://kv.example/")]) {
    assertEquals(await running.track(request, () => Promise.resolve(1)), 1);
    const failure = new Error("no");
    const failing = () => running.track(request, () => Promise.reject(failure));
    assertEquals(await assertRejects(failing, Error), failure);
  }
  await running.whenIdle();
});

Deno.test("the wait ends with the last request with a body, even if it fails", async () => {
  const running = new RunningUploads();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const log: string[] = [];
  const works = [
    running.track(upload(), () => first.promise),
    running.track(upload(), () => second.promise).catch(() => {}),
  ];
  const waits = [running.whenIdle(), running.whenIdle()].map((wait) =>
    wait.then(() => log.push("none"))
  );
  first.resolve();
  await works[0];
  log.push("first");
  second.reject(new Error("no"));
  await Promise.all([...works, ...waits]);
  assertEquals(log, ["first", "none", "none"]);
  await running.whenIdle();
});

Deno.test("a request without a body is not waited for", async () => {
  const running = new RunningUploads();
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = running.track(new Request("http://kv.example/"), () => promise);
  await running.whenIdle();
  resolve();
  await work;
});

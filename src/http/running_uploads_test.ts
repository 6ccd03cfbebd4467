import { assertEquals, assertRejects } from "@std/assert";
import { RunningUploads } from "./running_uploads.ts";

function upload(): Request {
  return new Request("http://kv.example/", { method: "POST", body: "a" });
}

Deno.test("What the work gives or throws is what is seen", async () => {
  const running = new RunningUploads();
  for (const request of [upload(), new Request("http://kv.example/")]) {
    assertEquals(await running.during(request, () => Promise.resolve(1)), 1);
    const failure = new Error("no");
    const failing = () => running.during(request, () => Promise.reject(failure));
    assertEquals(await assertRejects(failing, Error), failure);
  }
  await running.none();
});

Deno.test("The wait is over when the last request with a body is, however it ends", async () => {
  const running = new RunningUploads();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const log: string[] = [];
  const works = [
    running.during(upload(), () => first.promise),
    running.during(upload(), () => second.promise).catch(() => {}),
  ];
  const waits = [running.none(), running.none()].map((wait) => wait.then(() => log.push("none")));
  first.resolve();
  await works[0];
  log.push("first");
  second.reject(new Error("no"));
  await Promise.all([...works, ...waits]);
  assertEquals(log, ["first", "none", "none"]);
  await running.none();
});

Deno.test("A request without a body is not waited for", async () => {
  const running = new RunningUploads();
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = running.during(new Request("http://kv.example/"), () => promise);
  await running.none();
  resolve();
  await work;
});

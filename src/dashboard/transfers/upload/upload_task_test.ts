import { assertEquals } from "@std/assert";
import { PART_SIZE, SINGLE_REQUEST } from "./parts.ts";
import { UploadRecords } from "./records.ts";
import { FakeServer, fileOf, memoryStorage, TARGET, taskOf, toolsOf } from "./test_support.ts";
import { UploadTask } from "./upload_task.ts";

const LARGE = 2 * PART_SIZE + 1;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve));
}

Deno.test("A file of up to 10 MB is sent in one request, a larger one in parts", async () => {
  const server = new FakeServer();
  for (const size of [0, SINGLE_REQUEST]) {
    const task = taskOf(fileOf(size), toolsOf(server), true);
    await task.run();
    assertEquals([task.state, task.sent, server.files.get("film.mp4")], ["done", size, size]);
  }
  assertEquals(server.calls, ["put", "put"]);
  server.calls.length = 0;
  const large = taskOf(fileOf(SINGLE_REQUEST + 1), toolsOf(server), true);
  await large.run();
  assertEquals([large.state, large.sent], ["done", SINGLE_REQUEST + 1]);
  assertEquals(server.calls, ["start", "part 1", "complete"]);
});

Deno.test("A part that fails for a while is sent again after growing waits, and no other part", async () => {
  for (const status of [0, 408, 429, 503]) {
    const server = new FakeServer();
    server.refuse("part 2", status, 8);
    const waits: number[] = [];
    const task = taskOf(fileOf(LARGE), toolsOf(server, undefined, waits));
    await task.run();
    assertEquals([task.state, task.message, task.sent], ["done", "", LARGE]);
    assertEquals(server.calls.filter((call) => call === "part 2").length, 9);
    assertEquals(server.calls.filter((call) => call === "part 1").length, 1);
    assertEquals(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  }
});

Deno.test("A request that the server fails to handle is tried five times; a retry sends only that part", async () => {
  const server = new FakeServer();
  server.refuse("part 2", 500, 5);
  const task = taskOf(fileOf(LARGE), toolsOf(server));
  await task.run();
  assertEquals([task.state, task.message, task.status], ["failed", "500", 500]);
  server.calls.length = 0;
  task.resume();
  assertEquals(task.state, "waiting");
  await task.run();
  assertEquals(task.state, "done");
  assertEquals(server.calls, ["parts", "part 2", "complete"]);
  assertEquals(server.files.get("film.mp4"), LARGE);
});

Deno.test("A refusal is shown at once with the server's sentence", async () => {
  for (const status of [400, 403, 409, 413, 507]) {
    const server = new FakeServer();
    server.refuse("put", status);
    const task = taskOf(fileOf(5), toolsOf(server));
    await task.run();
    assertEquals([task.state, task.message, task.status], ["failed", String(status), status]);
    assertEquals(server.calls, ["put"]);
  }
});

Deno.test("A file that was changed is reported as such, not as a network error", async () => {
  const server = new FakeServer();
  server.refuse("put", 0, 4);
  const file = fileOf(5);
  file.slice = () => {
    throw new DOMException("Gone", "NotReadableError");
  };
  const task = taskOf(file, toolsOf(server));
  await task.run();
  assertEquals(task.message, "The file was changed, moved or deleted: choose it again");
});

Deno.test("Another file of that name is replaced only by a retry; the same one is done", async () => {
  const server = new FakeServer();
  server.files.set("film.mp4", 7);
  const task = taskOf(fileOf(5), toolsOf(server));
  await task.run();
  assertEquals([task.state, server.files.get("film.mp4")], ["failed", 7]);
  task.resume();
  await task.run();
  assertEquals([task.state, server.files.get("film.mp4")], ["done", 5]);
  // The answer to the first attempt was lost.
  const again = taskOf(fileOf(5), toolsOf(server));
  await again.run();
  assertEquals(again.state, "done");
});

Deno.test("After a reload the same file continues with the missing parts", async () => {
  const server = new FakeServer();
  const storage = memoryStorage();
  server.hanging.add("part 3");
  const first = taskOf(fileOf(LARGE), toolsOf(server, new UploadRecords(storage)));
  const running = first.run();
  await until(() => server.uploads.get("u1")?.size === 2);
  first.stop();
  await running;
  assertEquals(first.state, "paused");
  server.hanging.clear();
  server.calls.length = 0;
  const records = new UploadRecords(storage);
  const [record] = records.all();
  assertEquals(record?.uploadId, "u1");
  if (record === undefined) return;
  const second = UploadTask.ofRecord(record, { ...toolsOf(server, records), tab: "later" });
  assertEquals([second.state, second.isOf(fileOf(LARGE, 2))], ["interrupted", false]);
  await second.look();
  assertEquals(second.sent, 2 * PART_SIZE);
  server.calls.length = 0;
  second.resume(fileOf(LARGE));
  assertEquals(records.all().map(({ tab, uploadId }) => [tab, uploadId]), [["later", "u1"]]);
  await second.run();
  assertEquals(second.state, "done");
  assertEquals(server.calls, ["parts", "part 3", "complete"]);
  assertEquals(records.all(), []);
});

Deno.test("A pause lets arrive what is on its way, and sends no more", async () => {
  const server = new FakeServer();
  const task = taskOf(fileOf(12 * PART_SIZE), toolsOf(server));
  const { putPart } = server;
  server.putPart = (target, id, sending) => {
    if (sending.part === 3) task.pause();
    return putPart(target, id, sending);
  };
  await task.run();
  assertEquals([task.state, task.isSending], ["paused", false]);
  const sent = server.calls.filter((call) => call.startsWith("part ")).length;
  assertEquals([server.uploads.get("u1")?.size, sent < 12], [sent, true]);
  server.putPart = putPart;
  server.calls.length = 0;
  task.resume();
  await task.run();
  assertEquals(task.state, "done");
  assertEquals(server.calls.filter((call) => call.startsWith("part ")).length, 12 - sent);
});

Deno.test("An upload that was completed as the page ended is done", async () => {
  const server = new FakeServer();
  server.files.set("film.mp4", LARGE);
  const record = {
    ...TARGET,
    ...{ size: LARGE, lastModified: 1, mayReplace: false, tab: "t", uploadId: "gone" },
  };
  const task = UploadTask.ofRecord(record, toolsOf(server));
  await task.look();
  assertEquals([task.state, task.sent], ["done", LARGE]);
});

Deno.test("An upload that the server no longer has begins again", async () => {
  const server = new FakeServer();
  const records = new UploadRecords(memoryStorage());
  const record = {
    ...TARGET,
    ...{ size: LARGE, lastModified: 1, mayReplace: false, tab: "t", uploadId: "gone" },
  };
  records.save([record]);
  const task = UploadTask.ofRecord(record, toolsOf(server, records));
  task.resume(fileOf(LARGE));
  await task.run();
  assertEquals([task.state, server.calls.slice(0, 2)], ["done", ["parts", "start"]]);
  assertEquals(records.all(), []);
});

Deno.test("Canceling ends the upload on the server and forgets it", async () => {
  const server = new FakeServer();
  const records = new UploadRecords(memoryStorage());
  server.hanging.add("part 2");
  const task = taskOf(fileOf(LARGE), toolsOf(server, records));
  const running = task.run();
  await until(() => server.uploads.get("u1")?.size === 2);
  task.cancel();
  await running;
  await Promise.resolve();
  assertEquals([task.state, server.uploads.size, records.all()], ["canceled", 0, []]);
  assertEquals(server.calls.at(-1), "abort");
});

import { assertEquals } from "@std/assert";
import { PART_SIZE, SINGLE_REQUEST } from "./limits.js";
import { ResumeRecords } from "./resume_records.js";
import { dependenciesOf, FakeServer, fileOf, memoryStorage, PLACE } from "./test_support.ts";
import { UploadTask } from "./upload_task.js";

const LARGE = 2 * PART_SIZE + 1;

async function ran(task: UploadTask): Promise<UploadTask> {
  await task.run();
  return task;
}

Deno.test("A file of up to 10 MB is uploaded in one request, a larger one in parts", async () => {
  const server = new FakeServer();
  const small = await ran(new UploadTask(PLACE, fileOf(SINGLE_REQUEST), dependenciesOf(server)));
  assertEquals([small.state, small.sent], ["done", SINGLE_REQUEST]);
  assertEquals(server.calls, ["put"]);
  server.calls.length = 0;
  const large = await ran(
    new UploadTask(PLACE, fileOf(SINGLE_REQUEST + 1), dependenciesOf(server)),
  );
  assertEquals([large.state, large.sent], ["done", SINGLE_REQUEST + 1]);
  assertEquals(server.calls, ["start", "part 1", "complete"]);
});

Deno.test("An empty file is uploaded", async () => {
  const server = new FakeServer();
  const task = await ran(new UploadTask(PLACE, fileOf(0), dependenciesOf(server)));
  assertEquals([task.state, server.files.get("film.mp4")], ["done", 0]);
});

Deno.test("A part that fails temporarily is sent again, and no other part", async () => {
  for (const status of [0, 408, 503]) {
    const server = new FakeServer();
    server.refuse("part 2", status, 3);
    const messages = new Set<string>();
    const task = new UploadTask(PLACE, fileOf(LARGE), dependenciesOf(server));
    task.onChange = () => messages.add(task.message);
    await task.run();
    assertEquals([task.state, task.message, task.sent], ["done", "", LARGE]);
    assertEquals(server.calls.filter((call) => call === "part 2").length, 4);
    assertEquals(server.calls.filter((call) => call === "part 1").length, 1);
    assertEquals([...messages], [
      "",
      ...[1, 2, 4].map((seconds) => `Trying part 2 again in ${seconds} s: ${status}`),
    ]);
  }
});

Deno.test("A part that keeps failing ends the upload; resuming sends that part only", async () => {
  const server = new FakeServer();
  server.refuse("part 2", 503, 4);
  const task = await ran(new UploadTask(PLACE, fileOf(LARGE), dependenciesOf(server)));
  assertEquals([task.state, task.message, task.sent], ["failed", "503", PART_SIZE + 1]);
  server.calls.length = 0;
  task.reset();
  assertEquals(task.state, "waiting");
  await task.run();
  assertEquals(task.state, "done");
  assertEquals(server.calls, ["state", "part 2", "complete"]);
  assertEquals(server.files.get("film.mp4"), LARGE);
});

Deno.test("A refusal is shown at once with the server's sentence", async () => {
  for (const status of [400, 403, 409, 413, 507]) {
    const server = new FakeServer();
    server.refuse("put", status);
    const task = await ran(new UploadTask(PLACE, fileOf(5), dependenciesOf(server)));
    assertEquals([task.state, task.message], ["failed", String(status)]);
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
  const task = await ran(new UploadTask(PLACE, file, dependenciesOf(server)));
  assertEquals(task.message.includes("can no longer be read"), true);
});

Deno.test("After a reload the same file resumes with the missing parts", async () => {
  const server = new FakeServer();
  const storage = memoryStorage();
  server.hanging.add("part 3");
  const first = new UploadTask(
    PLACE,
    fileOf(LARGE),
    dependenciesOf(server, new ResumeRecords(storage)),
  );
  const running = first.run();
  while (server.uploads.get("u1")?.size !== 2) await new Promise((resolve) => setTimeout(resolve));
  first.stop();
  await running;
  assertEquals(storage.text().includes("u1"), true);
  server.hanging.clear();
  server.calls.length = 0;
  const later = dependenciesOf(server, new ResumeRecords(storage));
  const second = await ran(new UploadTask(PLACE, fileOf(LARGE), later));
  assertEquals([second.state, second.resumed], ["done", true]);
  assertEquals(server.calls, ["state", "part 3", "complete"]);
  assertEquals(storage.text(), "[]");
});

Deno.test("Another file of that name, and one whose upload has ended, start a new upload", async () => {
  const server = new FakeServer();
  const records = new ResumeRecords(memoryStorage());
  const record = { ...PLACE, size: LARGE, lastModified: 1, uploadId: "gone", partSize: PART_SIZE };
  records.save(record);
  await ran(new UploadTask(PLACE, fileOf(LARGE, "film.mp4", 2), dependenciesOf(server, records)));
  assertEquals(server.calls[0], "start");
  server.calls.length = 0;
  const task = await ran(new UploadTask(PLACE, fileOf(LARGE), dependenciesOf(server, records)));
  assertEquals([task.state, task.resumed], ["done", false]);
  assertEquals(server.calls.slice(0, 2), ["state", "start"]);
  assertEquals(records.all(), []);
});

Deno.test("Canceling aborts the upload on the server and drops its record", async () => {
  const server = new FakeServer();
  const records = new ResumeRecords(memoryStorage());
  server.hanging.add("part 2");
  const task = new UploadTask(PLACE, fileOf(LARGE), dependenciesOf(server, records));
  const running = task.run();
  while (server.uploads.get("u1")?.size !== 2) await new Promise((resolve) => setTimeout(resolve));
  task.cancel();
  await running;
  await Promise.resolve();
  assertEquals([task.state, server.uploads.size, records.all()], ["canceled", 0, []]);
  assertEquals(server.calls.at(-1), "abort");
});

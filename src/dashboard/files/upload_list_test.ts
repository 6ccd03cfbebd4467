import { assertEquals } from "@std/assert";
import { dependenciesOf, FakeServer, fileOf } from "./test_support.ts";
import { UploadList } from "./upload_list.js";

function placeOf(index: number) {
  return { project: "p", drive: "d", name: `${index}.txt` };
}

/** Waits until all uploads have ended. */
async function ended(list: UploadList): Promise<void> {
  while (list.isActive) await new Promise((resolve) => setTimeout(resolve, 5));
  // A pending notification keeps a timer.
  await new Promise((resolve) => setTimeout(resolve, 150));
}

function add(list: UploadList, count: number, size = 10): void {
  list.add(Array.from({ length: count }, (_, index) => ({
    place: placeOf(index),
    file: fileOf(size, `${index}.txt`),
  })));
}

Deno.test("A few files are uploaded at once, all are uploaded, and listeners get each once", async () => {
  const server = new FakeServer();
  const list = new UploadList(dependenciesOf(server));
  const stored: string[] = [];
  const listening = new AbortController();
  list.subscribe((tasks) => stored.push(...tasks.map(({ place }) => place.name)), listening.signal);
  add(list, 20);
  assertEquals([list.isActive, list.totals().open], [true, 20]);
  await ended(list);
  assertEquals(server.files.size, 20);
  assertEquals(server.most <= 4, true);
  assertEquals(new Set(stored).size, 20);
  assertEquals(stored.length, 20);
  const { done, sent, bytes, failed } = list.totals();
  assertEquals({ done, sent, bytes, failed }, { done: 20, sent: 200, bytes: 200, failed: 0 });
});

Deno.test("A failed upload delays no other and resumes on request", async () => {
  const server = new FakeServer();
  const list = new UploadList(dependenciesOf(server));
  server.refuse("put", 413);
  add(list, 5);
  await ended(list);
  const failed = list.tasks.filter(({ state }) => state === "failed");
  assertEquals([failed.length, server.files.size], [1, 4]);
  for (const task of failed) list.retry(task);
  await ended(list);
  assertEquals(server.files.size, 5);
});

Deno.test("The same file added twice is uploaded once; another file replaces it", async () => {
  const server = new FakeServer();
  const list = new UploadList(dependenciesOf(server));
  server.hanging.add("put");
  const place = placeOf(1);
  list.add([{ place, file: fileOf(5, "1.txt") }]);
  list.add([{ place, file: fileOf(5, "1.txt") }]);
  assertEquals(list.tasks.length, 1);
  server.hanging.clear();
  list.add([{ place, file: fileOf(6, "1.txt") }]);
  assertEquals(list.tasks.map(({ state }) => state), ["canceled", "running"]);
  await ended(list);
  assertEquals(server.files.get("1.txt"), 6);
});

Deno.test("All uploads can be canceled, and finished ones removed from the list", async () => {
  const server = new FakeServer();
  const list = new UploadList(dependenciesOf(server));
  server.hanging.add("put");
  add(list, 10);
  list.cancelAll();
  await ended(list);
  assertEquals([list.isActive, server.files.size], [false, 0]);
  assertEquals(list.totals().files, 0);
  list.clear();
  assertEquals(list.tasks.length, 0);
});

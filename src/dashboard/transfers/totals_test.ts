import { assertEquals } from "@std/assert";
import { FakeServer, fileOf, taskOf, toolsOf } from "./upload/test_support.ts";
import { figuresOf, headlineOf, totalsOf } from "./totals.ts";
import type { UploadState, UploadTask } from "./upload/upload_task.ts";

function tasksIn(...states: UploadState[]): UploadTask[] {
  return states.map((state) => {
    const task = taskOf(fileOf(10), toolsOf(new FakeServer()));
    task.state = state;
    task.sent = state === "done" ? 10 : 5;
    return task;
  });
}

function textsOf(...states: UploadState[]): string[] {
  const totals = totalsOf(tasksIn(...states));
  return [headlineOf(totals), figuresOf(totals)];
}

Deno.test("The headline tells what is going on", () => {
  assertEquals(textsOf("running"), ["Uploading 1 file", "50%"]);
  assertEquals(textsOf("done", "running", "waiting", "waiting"), [
    "Uploading 2 of 4 files",
    "62%",
  ]);
  assertEquals(textsOf("done", "paused", "failed"), ["1 upload paused", "1 failed"]);
  assertEquals(textsOf("done", "done", "done", "failed"), ["1 upload failed", "3 done"]);
  assertEquals(textsOf("done", "done", "done"), ["3 uploads done", ""]);
  assertEquals(textsOf("interrupted", "interrupted"), ["2 uploads interrupted", ""]);
});

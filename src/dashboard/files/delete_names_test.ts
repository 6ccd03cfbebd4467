import { assertEquals, assertRejects } from "@std/assert";
import { ApiError } from "../core/api_error.js";
import type { ListOptions } from "../core/types.d.ts";
import { deleteNames, selectedFiles } from "./delete_names.js";

const PLACE = { project: "p", drive: "d" };

function never(): AbortSignal {
  return new AbortController().signal;
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `f/${String(index).padStart(5, "0")}`);
}

Deno.test("A folder includes everything with its prefix, and each name counts once", async () => {
  const all = names(2500);
  const listFiles = (_project: string, _drive: string, options: ListOptions = {}) => {
    const { last = "", prefix = "" } = options;
    const start = last === "" ? 0 : all.indexOf(last) + 1;
    const page = all.filter((name) => name.startsWith(prefix)).slice(start, start + 1000);
    const end = page.at(-1) ?? "";
    const paging = start + 1000 < all.length ? { paging: { size: 1000, last: end } } : {};
    return Promise.resolve({ names: page, ...paging });
  };
  const counts: number[] = [];
  const selected = await selectedFiles({ listFiles }, PLACE, ["f/", "f/00001", "g.txt"], {
    signal: never(),
    onProgress: (count) => counts.push(count),
  });
  assertEquals(selected.length, 2501);
  assertEquals(selected.includes("g.txt"), true);
  assertEquals(counts.at(-1), 2501);
});

Deno.test("Deletions are split into requests of the largest size, and failures are reported", async () => {
  const sizes: number[] = [];
  const done = { deleted: 0, failed: [] as string[] };
  const deleteFiles = (_project: string, _drive: string, batch: string[]) => {
    sizes.push(batch.length);
    const [first = "", ...others] = batch;
    // The first answer has a list, the others an object, as with --failed-reasons.
    const failed = sizes.length === 1 ? [first] : { [first]: "why" };
    return Promise.resolve({ deleted: others, failed });
  };
  await deleteNames({ deleteFiles }, PLACE, names(2001), {
    signal: never(),
    onProgress: ({ deleted, failed }) => {
      done.deleted += deleted.length;
      done.failed.push(...failed);
    },
  });
  assertEquals(sizes, [1000, 1000, 1]);
  assertEquals(done, { deleted: 1998, failed: ["f/00000", "f/01000", "f/02000"] });
});

Deno.test("A refusal ends a deletion after progress was reported", async () => {
  let calls = 0;
  let deleted = 0;
  const deleteFiles = (_project: string, _drive: string, batch: string[]) => {
    calls++;
    if (calls === 2) return Promise.reject(new ApiError(409, "No"));
    return Promise.resolve({ deleted: batch, failed: [] });
  };
  const run = () =>
    deleteNames({ deleteFiles }, PLACE, names(3000), {
      signal: never(),
      onProgress: (done) => deleted += done.deleted.length,
    });
  await assertRejects(run, ApiError, "No");
  assertEquals([calls, deleted], [2, 1000]);
});

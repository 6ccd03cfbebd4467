import { assertEquals, assertRejects } from "@std/assert";
import { openMemoryDatabase } from "../../store/engine/database.ts";
import { StoreUnavailable } from "../../store/engine/errors.ts";
import { Store } from "../../store/store.ts";
import { driveCall, testDeps } from "../test_support.ts";
import { restoreItems } from "./trash.ts";

/** Restores items in a store that is unavailable for those whose id begins with "no". */
async function restore(ids: string[]): Promise<{ restored: string[]; failed: { id: string }[] }> {
  const store = new Store(await openMemoryDatabase(), { onError: () => {} });
  try {
    const deps = await testDeps(store);
    store.trash.restore = (_drive, id) =>
      id.startsWith("no")
        ? Promise.reject(new StoreUnavailable("the inside of the store"))
        : Promise.resolve("restored");
    const body = JSON.stringify({ ids });
    const request = new Request("http://kv.example/", { method: "POST", body });
    return await (await restoreItems(driveCall(request), deps)).json();
  } finally {
    await store.close();
  }
}

Deno.test("A restoration that fails halfway says what was restored", async () => {
  const { restored, failed } = await restore(["a", "no-1", "b"]);
  assertEquals([restored, failed.map(({ id }) => id)], [["a", "b"], ["no-1"]]);
});

Deno.test("A restoration that fails before anything was restored is an error", async () => {
  await assertRejects(() => restore(["no-1", "a"]), StoreUnavailable);
});

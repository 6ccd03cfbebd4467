import { assert, assertEquals } from "@std/assert";
import { openMemoryDatabase } from "../../store/engine/database.ts";
import { StoreUnavailable } from "../../store/engine/errors.ts";
import { Store } from "../../store/store.ts";
import { driveCall, testDeps } from "../test_support.ts";
import { deleteNamed } from "./delete_files.ts";

const NAMES = ["kept 1", "a", "__proto__", "b"];

/** Deletes on a store that cannot delete the names with a 1 and `__proto__`. */
async function deleteOnFailingStore(
  failedReasons: boolean,
): Promise<{ text: string; failures: unknown[] }> {
  const store = new Store(await openMemoryDatabase(), { onError: () => {} });
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);
  const deps = await testDeps(store, { failedReasons, onError });
  store.files.delete = ({ name }) =>
    name.includes("1") || name === "__proto__"
      ? Promise.reject(new StoreUnavailable("the inside of the store"))
      : Promise.resolve(true);
  const request = new Request("http://kv.example/", {
    method: "DELETE",
    body: JSON.stringify({ names: NAMES }),
  });
  try {
    const response = await deleteNamed(driveCall(request), deps);
    assertEquals(response.status, 200);
    return { text: await response.text(), failures };
  } finally {
    await store.close();
  }
}

Deno.test("a name that the store could not delete is listed as failed, the others as deleted", async () => {
  const { text, failures } = await deleteOnFailingStore(false);
  assertEquals(JSON.parse(text), { deleted: ["a", "b"], failed: ["kept 1", "__proto__"] });
  assertEquals(failures.length, 2);
});

Deno.test("with reasons the failed names are an object, and no reason contains internals", async () => {
  const { text } = await deleteOnFailingStore(true);
  const { deleted, failed } = JSON.parse(text);
  assertEquals([deleted, Object.keys(failed)], [["a", "b"], ["kept 1", "__proto__"]]);
  for (const reason of Object.values(failed)) assert(typeof reason === "string" && reason !== "");
  assert(!text.includes("inside"), text);
});

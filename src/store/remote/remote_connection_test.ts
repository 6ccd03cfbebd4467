import { assert, assertEquals, assertRejects } from "@std/assert";
import { Operation } from "../engine/operation.ts";
import { withFolder } from "../testing/stores.ts";
import { RemoteConnection } from "./remote_connection.ts";
import { openRemoteDatabase } from "./remote_database.ts";

Deno.test("A renewed connection has a new handle, and the first one stays open", async () => {
  await withFolder(async (folder) => {
    const connection = await RemoteConnection.open(`${folder}/store.db`);
    const first = connection.current;
    await connection.renew();
    const second = connection.current;
    assert(second !== first);
    assert((await second.atomic().set(["a"], 1).commit()).ok);
    assertEquals((await first.get(["a"])).value, 1);
    await connection.renew();
    await assertRejects(() => second.get(["a"]));
    assertEquals((await first.get(["a"])).value, 1);
    connection[Symbol.dispose]();
    await assertRejects(() => first.get(["a"]));
    await assertRejects(() => connection.current.get(["a"]));
  });
});

Deno.test("A connection that is renewed while it is closed leaves no handle open", async () => {
  await withFolder(async (folder) => {
    const connection = await RemoteConnection.open(`${folder}/store.db`);
    const renewal = connection.renew();
    connection[Symbol.dispose]();
    await renewal;
    await assertRejects(() => connection.current.get(["a"]));
  });
});

Deno.test("A remote database reads what it has committed", async () => {
  await withFolder(async (folder) => {
    const db = await openRemoteDatabase({ url: `${folder}/store.db` });
    assert((await db.commit(new Operation().set(["a"], 1))).ok);
    assertEquals((await db.reader.get(["a"])).value, 1);
    const [entry] = await db.reads.get<[number]>([["a"]]);
    assertEquals(entry.value, 1);
    await db.close();
    await assertRejects(() => db.reader.get(["a"]));
  });
});

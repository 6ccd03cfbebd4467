import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path/join";
import { hashSecret } from "../../rules/secrets.ts";
import { openDatabase } from "../engine/database_file.ts";
import { keys } from "../engine/keys.ts";
import type { GrantIndexRecord } from "../engine/records.ts";
import { grantJournalKeys, listGrants } from "../sessions/grants.ts";
import { Store } from "../store.ts";
import { deleteEntry, setEntry } from "../testing/entries.ts";
import { addProject, type TestStore, withFolder } from "../testing/stores.ts";
import { repair } from "./problem.ts";
import { verifyStore } from "./verify.ts";

type Listed = Deno.KvEntry<GrantIndexRecord>;

/** Runs a test on a store with a session, a code and a ticket of one key. */
async function withGrants(
  test: (bench: TestStore, session: Listed, path: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const db = await openDatabase(folder);
    const store = new Store(db, { onError: (error) => assertEquals(error, undefined) });
    try {
      await addProject(db);
      const made = await store.keys.create("p");
      const owner = { hash: hashSecret(made?.key.text ?? ""), project: "p" };
      await store.signIns.start({ owner }, { address: "", browser: "" });
      await store.signIns.createCode(owner);
      await store.tickets.create({ owner, project: "p", drive: "d", names: ["a"], prefixes: [] });
      const [session] = await listGrants(db, owner.hash, "session");
      if (session === undefined) throw new Error("There is no session");
      await test({ db, store }, session, join(folder, "kvdrive.db"));
    } finally {
      await store.close();
    }
  });
}

Deno.test("Sessions, codes and tickets are no problem, nor are those of a revoked key", async () => {
  await withGrants(async ({ db, store }, { value }, path) => {
    assertEquals((await verifyStore(path)).problems, []);
    const record = await db.reader.get(keys.grant("session", value.hash));
    const [key] = await store.keys.list("p");
    await deleteEntry(db, keys.projectKey(String(record.key[2])));
    await store.keys.revoke("p", key?.prefix ?? "");
    assertEquals((await verifyStore(path)).problems, []);
  });
});

const DAMAGES: Record<string, {
  damage: (bench: TestStore, listed: Listed) => Promise<void>;
  message: RegExp;
}> = {
  "A session that is not listed": {
    damage: ({ db }, { key }) => deleteEntry(db, key),
    message: /^A session of the dashboard is missing from the list of its key$/,
  },
  "An entry of the list without a session": {
    damage: ({ db }, { value: { hash } }) => deleteEntry(db, keys.grant("session", hash)),
    message: /^The list of the sessions, codes and tickets of a key has one that does not exist$/,
  },
  "A session that would stay after its deadline": {
    damage: async ({ db }, { value: { hash, expires } }) => {
      await deleteEntry(db, grantJournalKeys(hash, expires)[0] ?? []);
    },
    message: /^A session of the dashboard is not scheduled for deletion$/,
  },
  "A ticket of a project that does not exist": {
    damage: async ({ db, store }) => {
      await store.adminToken.set("hash");
      await setEntry(db, keys.project("q"), { created: 1 });
      const owner = { hash: "hash" };
      await store.tickets.create({ owner, project: "q", drive: "d", names: ["a"], prefixes: [] });
      await deleteEntry(db, keys.project("q"));
    },
    message: /^A download ticket belongs to project q, which does not exist$/,
  },
};

for (const [about, { damage, message }] of Object.entries(DAMAGES)) {
  Deno.test(`${about} is found and repaired`, async () => {
    await withGrants(async (bench, session, path) => {
      await damage(bench, session);
      const { problems } = await verifyStore(path);
      assertEquals(problems.length, 1, JSON.stringify(problems));
      assertMatch(problems[0]?.message ?? "", message);
      assertEquals((await repair(bench.db, problems)).length, 1);
      assertEquals((await verifyStore(path)).problems, []);
    });
  });
}

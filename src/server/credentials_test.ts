import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { hashSecret, MAX_KEY_HEADER, parseProjectKey } from "../rules/secrets.ts";
import { type Database, openMemoryDatabase } from "../store/engine/database.ts";
import { Store } from "../store/store.ts";
import { UsageError } from "../cli/terminal/output.ts";
import { applyCredentials, type ConfiguredCredentials, readCredentials } from "./credentials.ts";

const NOTHING: ConfiguredCredentials = { projectKey: undefined, adminToken: undefined };

const GIVEN: ConfiguredCredentials = {
  projectKey: parseProjectKey("mine_correct-horse-battery-staple"),
  adminToken: "open-sesame-open-sesame",
};

async function withStore(test: (store: Store, db: Database) => Promise<void>): Promise<void> {
  const db = await openMemoryDatabase();
  const store = new Store(db, { onError: () => {} });
  try {
    await test(store, db);
  } finally {
    await store.close();
  }
}

/** All that is in the store, keys and values, as one text. */
async function dump(db: Database): Promise<string> {
  const found: unknown[] = [];
  for await (const { key, value } of db.reader.list({ prefix: [] })) found.push([key, value]);
  return JSON.stringify(found);
}

Deno.test("Credentials are read from the environment, and empty variables are ignored", () => {
  assertEquals(readCredentials({}), NOTHING);
  assertEquals(readCredentials({ KVDRIVE_PROJECT_KEY: "", KVDRIVE_ADMIN_TOKEN: "" }), NOTHING);
  const secret = "s_123456789012345678901";
  const token = "a token of 22 letters.";
  const env = { KVDRIVE_PROJECT_KEY: `my-app_${secret}`, KVDRIVE_ADMIN_TOKEN: token };
  assertEquals(readCredentials(env), {
    projectKey: { project: "my-app", secret, text: `my-app_${secret}` },
    adminToken: token,
  });
});

Deno.test("A malformed project key is refused without repeating it", () => {
  for (const text of ["swordfish", "_swordfish", "my app_swordfish", "a_sword fish", "a_"]) {
    const { message } = assertThrows(
      () => readCredentials({ KVDRIVE_PROJECT_KEY: text }),
      UsageError,
      "KVDRIVE_PROJECT_KEY",
    );
    assert(!message.includes("sword"), message);
  }
});

Deno.test("A project key that no header can hold is refused", () => {
  const longest = `a_${"x".repeat(MAX_KEY_HEADER - 2)}`;
  assertEquals(readCredentials({ KVDRIVE_PROJECT_KEY: longest }).projectKey?.text, longest);
  const read = () => readCredentials({ KVDRIVE_PROJECT_KEY: `${longest}x` });
  assertThrows(read, UsageError, "KVDRIVE_PROJECT_KEY");
});

Deno.test("A short secret is refused without repeating it, with advice", () => {
  const cases: [variable: string, value: string, says: string][] = [
    ["KVDRIVE_PROJECT_KEY", "p_x", "has 1 character,"],
    ["KVDRIVE_PROJECT_KEY", "p_swordfish", "has 9 characters,"],
    // The project's id is no secret, so its length does not count.
    ["KVDRIVE_PROJECT_KEY", `${"a".repeat(60)}_swordfish`, "has 9 characters,"],
    ["KVDRIVE_PROJECT_KEY", `p_${"x".repeat(21)}`, "has 21 characters,"],
    ["KVDRIVE_ADMIN_TOKEN", "a", "has 1 character,"],
    ["KVDRIVE_ADMIN_TOKEN", "swordfish", "has 9 characters,"],
    ["KVDRIVE_ADMIN_TOKEN", "x".repeat(21), "has 21 characters,"],
  ];
  for (const [variable, value, says] of cases) {
    const { message } = assertThrows(() => readCredentials({ [variable]: value }), UsageError);
    for (const part of [variable, says, "at least 22", "openssl rand -hex 16"]) {
      assertStringIncludes(message, part);
    }
    assert(!message.includes("swordfish") && !message.includes("xxx"), message);
  }
  readCredentials({
    KVDRIVE_PROJECT_KEY: `p_${"x".repeat(22)}`,
    KVDRIVE_ADMIN_TOKEN: "x".repeat(22),
  });
});

Deno.test("A token that no header can hold is refused", () => {
  const token = "swordfish-swordfish-swordfish";
  for (const bad of [`${token}\n`, ` ${token}`, `${token} `, `${token}ü`, token.repeat(9)]) {
    const read = () => readCredentials({ KVDRIVE_ADMIN_TOKEN: bad });
    const { message } = assertThrows(read, UsageError, "KVDRIVE_ADMIN_TOKEN");
    assert(!message.includes("swordfish"), message);
  }
});

const NEW = { trashDays: 7 };

Deno.test("An empty store gets a project, its key and an administrator's token", async () => {
  await withStore(async (store) => {
    const { projectKey, adminToken = "" } = await applyCredentials(store, NOTHING, NEW);
    assertMatch(adminToken, /^[A-Za-z0-9]{32}$/);
    const opened = await store.keys.find(hashSecret(projectKey?.text ?? ""));
    assertEquals(opened?.project, projectKey?.project);
    const info = await store.projects.get(projectKey?.project ?? "");
    assertEquals([info?.name, info?.trashDays], ["My files", 7]);
    assertEquals([await store.projects.isEmpty(), await store.adminToken.exists()], [false, true]);
  });
});

Deno.test("A second start changes nothing", async () => {
  for (const given of [NOTHING, GIVEN]) {
    await withStore(async (store, db) => {
      await applyCredentials(store, given, NEW);
      const before = await dump(db);
      assertEquals(await applyCredentials(store, given, NEW), {});
      assertEquals(await dump(db), before);
    });
  }
});

Deno.test("Configured credentials are used, and none are created", async () => {
  await withStore(async (store) => {
    assertEquals(await applyCredentials(store, GIVEN, NEW), {});
    const opened = await store.keys.find(hashSecret(GIVEN.projectKey?.text ?? ""));
    assertEquals(opened?.project, "mine");
    assertEquals(await store.adminToken.exists(), true);
  });
  await withStore(async (store) => {
    const { projectKey, adminToken } = await applyCredentials(store, {
      ...NOTHING,
      projectKey: GIVEN.projectKey,
    }, NEW);
    assertEquals([projectKey, adminToken?.length], [undefined, 32]);
  });
});

Deno.test("A configured key is added to a store with projects, which are kept", async () => {
  await withStore(async (store) => {
    const first = await applyCredentials(store, NOTHING, NEW);
    assertEquals(await applyCredentials(store, GIVEN, NEW), {});
    const another = { ...NOTHING, projectKey: parseProjectKey("mine_another-secret") };
    assertEquals(await applyCredentials(store, another, NEW), {});
    for (const key of [first.projectKey, GIVEN.projectKey, another.projectKey]) {
      assertEquals((await store.keys.find(hashSecret(key?.text ?? "")))?.project, key?.project);
    }
    assertEquals(await store.keys.find(hashSecret("mine_unknown")), undefined);
  });
});

Deno.test("Only the SHA-256 of a key or token is stored", async () => {
  for (const given of [NOTHING, GIVEN]) {
    await withStore(async (store, db) => {
      const made = await applyCredentials(store, given, NEW);
      const { projectKey, adminToken = "" } = { ...given, ...made };
      const stored = await dump(db);
      for (const secret of [projectKey?.secret ?? "", projectKey?.text ?? "", adminToken]) {
        assert(secret.length >= 20 && !stored.includes(secret), stored);
        assert(!stored.includes(btoa(secret)), stored);
      }
      assertStringIncludes(stored, hashSecret(projectKey?.text ?? ""));
      assertStringIncludes(stored, hashSecret(adminToken));
    });
  }
});

import { PROJECT_ID } from "../../support/server.ts";
import { deleteFirst, type Edit } from "./edit_store.ts";

/** Adds a key with these limits, but not the journal entries that belong to them. */
async function addKey(kv: Deno.Kv, limits: object): Promise<void> {
  const [hash, prefix] = ["f".repeat(64), "damagedK"];
  await kv.atomic().set(["project_key_prefix", PROJECT_ID, prefix], hash)
    .set(["project_key", hash], { project: PROJECT_ID, prefix, created: 1, ...limits })
    .commit();
}

const S3_KEY = "KV".padEnd(20, "A");

/** Adds only the record of an S3 key with these limits, and no other entry of the key. */
async function addS3Key(kv: Deno.Kv, limits: object): Promise<void> {
  const record = { project: PROJECT_ID, created: 1, secret: { iv: "", text: "" } };
  await kv.set(["s3_key", S3_KEY], { ...record, ...limits });
}

/** Wrong entries of project keys and S3 keys, and the problems that verify reports. */
export const KEY_WRONGS: Record<string, { damage: Edit; says: RegExp }> = {
  "a key that is missing in its lists": {
    damage: (kv) => deleteFirst(kv, "project_key_prefix", PROJECT_ID),
    says: /key \S+ of project test-project is missing from its index/,
  },
  "a key with limits that make no sense": {
    damage: (kv) => addKey(kv, { permissions: ["read", "everything"] }),
    says: /key damagedK of project test-project has limits that make no sense/,
  },
  "a key that expires and is not scheduled for deletion": {
    damage: (kv) => addKey(kv, { expires: Date.now() + 600_000 }),
    says: /key damagedK of project test-project expires, but is not scheduled/,
  },
  "a last use without its key": {
    damage: async (kv) => void await kv.set(["project_key_use", "0".repeat(64)], Date.now()),
    says: /last use of a key is stored, but the key does not exist/,
  },
  "an S3 key that is missing in its list": {
    damage: (kv) => addS3Key(kv, {}),
    says: /S3 key KVA{18} of project test-project is missing from its list/,
  },
  "an S3 key that expires and is not scheduled for deletion": {
    damage: async (kv) => {
      const expires = Date.now() + 600_000;
      await addS3Key(kv, { expires });
      await kv.set(["s3_key_of", PROJECT_ID, S3_KEY], { expires });
    },
    says: /S3 key KVA{18} of project test-project is .* not scheduled for deletion/,
  },
  "an S3 key with limits that make no sense": {
    damage: async (kv) => {
      await addS3Key(kv, { permissions: [] });
      await kv.set(["s3_key_of", PROJECT_ID, S3_KEY], {});
    },
    says: /S3 key KVA{18} of project test-project has limits that make no sense/,
  },
  "a list with a missing S3 key": {
    damage: async (kv) => void await kv.set(["s3_key_of", PROJECT_ID, S3_KEY], {}),
    says: /An index has the S3 key KVA{18} of project test-project, which does not exist/,
  },
  "a last use without its S3 key": {
    damage: async (kv) => void await kv.set(["s3_key_use", S3_KEY], Date.now()),
    says: /last use of a key is stored, but the key does not exist/,
  },
};

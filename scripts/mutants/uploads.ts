import { type Mutant, mutantsOf } from "./mutant.ts";

/** Changes of uploads in parts, and quotas. */
export const UPLOADS_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/store/uploads/session.ts", [
    "src/store/uploads/upload_races_test.ts",
    "src/store/uploads/upload_store_test.ts",
  ], [
    { find: "if (value.name !== name)", replace: 'if (value.name !== name && id === "")' },
    { find: "return expires <= Date.now();", replace: "return expires <= 0;" },
    { find: ".check(revision.key, revision.versionstamp)\n", replace: "\n" },
    {
      find: "operation.check(key, versionstamp)\n    .delete(key)\n    .check",
      replace: "void versionstamp;\n  operation.delete(key)\n    .check",
    },
    { find: "if (bytes > 0) operation.sum", replace: "if (bytes < 0) operation.sum" },
    {
      find: "!owner.deleting.includes(drive)",
      replace: "!owner.deleting.includes(`${drive}/`)",
      tests: ["src/store/quotas/quotas_uploads_test.ts"],
    },
  ]),
  ...mutantsOf("src/store/uploads/upload_store.ts", [
    "src/store/uploads/upload_races_test.ts",
    "src/store/uploads/upload_store_test.ts",
  ], [
    {
      find: ".check(open.key, open.versionstamp)\n",
      replace: ".share(open.key.length > 0 ? project.unchanged : begun.unchanged)\n",
    },
    { find: ".check(key, earlier.versionstamp)\n", replace: "\n" },
    {
      find: "const more = size - (earlier.value?.size ?? 0);",
      replace: "const more = size;",
      tests: ["src/store/quotas/quotas_uploads_test.ts"],
    },
    {
      find: "if (earlier.value !== null) discardPart",
      replace: "if (earlier.value !== null && size < 0) discardPart",
    },
    { find: "await accept();", replace: "accept().catch(() => {});" },
    { find: "if (uploads.length === limit) return", replace: "if (uploads.length > limit) return" },
    {
      find: "return completed ? await this",
      replace: 'return completed && session.name === "" ? await this',
    },
    {
      find: "charged: receivedBytes(revision)",
      replace: "charged: 0",
      tests: ["src/store/quotas/quotas_uploads_test.ts"],
    },
  ]),
  ...mutantsOf("src/store/uploads/open_upload_limit.ts", [
    "src/store/uploads/open_upload_limit_test.ts",
  ], [
    { find: "operation.check(key, null).set", replace: "operation.set" },
    {
      find: "const left = this.#max - taken.size;",
      replace: "const left = this.#max - taken.size + 1;",
    },
    { find: "slot >= this.#max", replace: "slot > this.#max" },
  ]),
  ...mutantsOf("src/store/uploads/parts.ts", [
    "src/store/uploads/upload_races_test.ts",
    "src/store/uploads/upload_store_test.ts",
  ], [
    {
      find: "if (problem !== undefined) throw",
      replace: "if (problem !== undefined && parts.length === 1) throw",
    },
    { find: "others.length === 0 ? first.sha256", replace: "others.length >= 0 ? first.sha256" },
  ]),
  ...mutantsOf("src/store/quotas/quota_account.ts", ["src/store/quotas/quotas_test.ts"], [
    { find: "used + more <= limit", replace: "used + more < limit" },
    {
      find: "return more <= 0 ||",
      replace: "return more < 0 ||",
      tests: ["src/store/quotas/quotas_uploads_test.ts"],
    },
    { find: "!deleting.includes(name)", replace: "!deleting.includes(`${name}/`)" },
  ]),
  ...mutantsOf("src/store/quotas/quotas.ts", ["src/store/quotas/quota_queue_test.ts"], [
    { find: "const used = account.used + this.#others();", replace: "const used = account.used;" },
    {
      find: "if (size > CHUNK_SIZE) await this.growTo(size);",
      replace: "if (size < 0) await this.growTo(size);",
    },
    { find: "if (size > CHUNK_SIZE) this.#setOwn", replace: "if (size < CHUNK_SIZE) this.#setOwn" },
  ]),
  ...mutantsOf("src/store/quotas/quota_queue.ts", [
    "src/store/quotas/quota_queue_test.ts",
    "src/store/quotas/quotas_test.ts",
  ], [
    { find: ".check(key, account.versionstamp)\n", replace: "\n" },
    { find: "if (!fitsQuota({ ...account, used: sum.bytes }, more)) continue;", replace: "" },
    {
      find: "const isSame = entry?.versionstamp === versionstamp;",
      replace: "const isSame = entry?.versionstamp === versionstamp || checks.length > 0;",
    },
  ]),
];

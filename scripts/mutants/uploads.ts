import { type Mutant, mutantsOf } from "./mutant.ts";

/** Changes of uploads in parts, and quotas. */
export const UPLOADS_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/store/uploads/session.ts", [
    "src/store/uploads/upload_races_test.ts",
    "src/store/uploads/upload_store_test.ts",
  ], [
    { find: "if (value.name !== name)", replace: 'if (value.name !== name && id === "")' },
    { find: "return expires <= Date.now();", replace: "return expires <= 0;" },
    { find: ".check(revision.key, revision.versionstamp).delete", replace: ".delete" },
    {
      find: "operation.check(key, versionstamp)\n    .delete(key)\n    .sum",
      replace: "void versionstamp;\n  operation.delete(key)\n    .sum",
    },
    { find: "-receivedBytes(revision)", replace: "0 * receivedBytes(revision)" },
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
  ...mutantsOf("src/store/quotas/quotas.ts", [
    "src/store/quotas/admission_test.ts",
    "src/store/quotas/quotas_test.ts",
    "src/store/quotas/quotas_uploads_test.ts",
  ], [
    {
      find: "numbers.used + numbers.more <= numbers.limit",
      replace: "numbers.used < numbers.limit",
    },
    { find: "if (numbers.more <= 0 ||", replace: "if (numbers.more < 0 ||" },
    { find: "sum), meanwhile, sum);", replace: "sum), NOTHING, sum);" },
    { find: "if (this.#begun !== begun) continue;", replace: "" },
    {
      find: "if (size > CHUNK_SIZE) await this.growTo(size);",
      replace: "if (size < 0) await this.growTo(size);",
    },
    { find: "if (outcome.ok) this.#release();", replace: "if (!outcome.ok) this.#release();" },
  ]),
];

import { type Mutant, mutantsOf } from "./mutant.ts";

/** Changes of the store engine. */
export const ENGINE_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/store/engine/operation.ts", ["src/store/engine/operation_test.ts"], [
    {
      find: "this.#bytes + other.#bytes <= maxBytes",
      replace: "this.#bytes + other.#bytes <= maxBytes + 1",
    },
    { find: "this.#keyBytes + other.#keyBytes <= MAX_COMMIT_KEY_BYTES &&", replace: "" },
    { find: "this.#mutationCount + other.#mutationCount <= MAX_COMMIT_MUTATIONS &&", replace: "" },
    { find: "this.touched.isDisjointFrom(other.touched) &&", replace: "" },
    { find: "if (other.touched.has(id)) return false;", replace: "" },
    { find: "if (this.#sums.size + this.#announced.size > 0) return false;", replace: "" },
    {
      find: "((by % COUNTER_MODULUS) + COUNTER_MODULUS) % COUNTER_MODULUS",
      replace: "by < 0n ? 0n : by % COUNTER_MODULUS",
    },
  ]),
  ...mutantsOf("src/store/engine/group_commit.ts", ["src/store/engine/group_commit_test.ts"], [
    {
      find: "if (unmet.has(operation)) resolve({ ok: false });",
      replace: 'if (unmet.has(operation)) resolve({ ok: true, versionstamp: "" });',
    },
    {
      find: "if (!isMixed || member.operation.hasFileBytes) member.reject(error);",
      replace: "member.reject(error);",
    },
    {
      find: "found.get(identityOf(key)) === versionstamp",
      replace: "found.get(identityOf(key)) !== versionstamp",
    },
    {
      find: "if (!(error instanceof StoreUnavailable)) return false;",
      replace: "void StoreUnavailable;",
    },
  ]),
  ...mutantsOf("src/store/engine/transact.ts", ["src/store/engine/transact_test.ts"], [
    {
      find: "(await db.commit(operation)).ok) return result",
      replace: "(await db.commit(operation)) !== undefined) return result",
    },
    { find: "tries < MAX_TRANSACTION_TRIES", replace: "tries <= MAX_TRANSACTION_TRIES" },
  ]),
  ...mutantsOf("src/store/engine/keys.ts", ["src/store/engine/keys_test.ts"], [
    { find: 'end: ["garbage", now + 1]', replace: 'end: ["garbage", now]' },
    {
      find: "end: keys.manifestPage(version, to + 1)",
      replace: "end: keys.manifestPage(version, to)",
    },
  ]),
  ...mutantsOf("src/store/engine/key_size.ts", ["src/store/engine/keys_test.ts"], [
    { find: "return part.length + 2;", replace: "return part.length + 1;" },
  ]),
  ...mutantsOf("src/store/engine/commits.ts", ["src/store/engine/commits_test.ts"], [
    {
      find: 'if (ballast.isNeeded) throw new StoreFull("The disk is full");',
      replace: "",
      tests: ["src/store/disk/ballast_test.ts"],
    },
    {
      find: "if (isLocked && locks?.isFree() === false)",
      replace: "if (isLocked && locks?.isFree() !== undefined)",
    },
  ]),
  ...mutantsOf("src/store/engine/ttl_cache.ts", ["src/store/engine/ttl_cache_test.ts"], [
    {
      find: "if (generation !== this.#generation) continue;",
      replace: "if (generation > this.#generation) continue;",
    },
    {
      find:
        "const expires = performance.now() + KEY_CACHE_TTL;\n      const value = await this.read(key);",
      replace:
        "const value = await this.read(key);\n      const expires = performance.now() + KEY_CACHE_TTL;",
    },
    {
      find: "entry.expires > performance.now()) return entry.value",
      replace: "entry.expires > 0) return entry.value",
    },
  ]),
  ...mutantsOf("src/store/engine/project_cache.ts", ["src/store/engine/project_cache_test.ts"], [
    { find: "deleting.length === 0", replace: "deleting.length >= 0" },
    { find: "begun.created !== found.created", replace: "begun.created > found.created" },
    {
      find: "if (owner.created === thing.projectCreated)",
      replace: "if (owner.created >= thing.projectCreated)",
    },
    {
      find: "found === undefined || found.deleting.includes(drive);",
      replace: "found === undefined || found.deleting.includes(`${drive}/`);",
    },
  ]),
  ...mutantsOf("src/store/reads/record_codec.ts", ["src/store/reads/sqlite_reader_test.ts"], [
    { find: "view.getUint32(0) !== crc32(text)", replace: "text.byteLength > 999" },
    { find: "if (this.#known.has(id) ||", replace: "if (" },
  ]),
  ...mutantsOf("src/store/reads/sqlite_reader.ts", ["src/store/reads/sqlite_reader_test.ts"], [
    { find: "while (this.#turn.isOver(began))", replace: "if (this.#turn.isOver(began))" },
  ]),
];

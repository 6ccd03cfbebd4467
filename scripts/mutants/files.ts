import { type Mutant, mutantsOf } from "./mutant.ts";

/** Changes of the files of the store. */
export const FILES_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/store/bytes/checksums.ts", ["src/store/bytes/checksums_test.ts"], [
    {
      find: "return checksumAt(page, index) === crc32(chunk);",
      replace: "return checksumAt(page, index) === crc32(chunk) || index >= 0;",
    },
    {
      find: "sha256 === undefined || sha256 === digest(content) ?",
      replace: 'sha256 === undefined || digest(content) !== "" ?',
    },
    {
      find: "digests.every((known) => known === this.sha256)",
      replace: "digests.some((known) => known === this.sha256)",
    },
    { find: "return left > CHECKSUMS_PER_PAGE", replace: "return left >= CHECKSUMS_PER_PAGE" },
    { find: "if (this.#next < this.#count) return this.#missing();", replace: "" },
  ]),
  ...mutantsOf("src/store/bytes/chunks.ts", ["src/store/bytes/chunks_test.ts"], [
    {
      find: "Math.min(piece.byteLength, CHUNK_SIZE - this.#size)",
      replace: "Math.min(piece.byteLength, CHUNK_SIZE - this.#size + 1)",
    },
    { find: "return isExact ?", replace: "return isExact || this.#size > 1 ?" },
  ]),
  ...mutantsOf("src/store/files/file_record.ts", ["src/store/files/file_store_test.ts"], [
    { find: "lead <= 0 || lead > MAX_CLOCK_LEAD", replace: "lead <= 0 || lead <= MAX_CLOCK_LEAD" },
    { find: "created: current?.created ?? modified,", replace: "created: modified," },
    {
      find: "dateIsStrong: sameSecond === undefined };",
      replace: 'dateIsStrong: sameSecond === undefined || version !== "" };',
      tests: ["src/store/files/file_record_test.ts"],
    },
  ]),
  ...mutantsOf("src/store/files/file_store.ts", ["src/store/files/file_store_test.ts"], [
    {
      find: ".check(current.key, current.versionstamp);\n        setFile(",
      replace: ";\n        setFile(",
    },
    {
      find: ".check(current.key, current.versionstamp);\n        removeFile(",
      replace: ";\n        removeFile(",
    },
    {
      find: 'if (record === "refused") await abandon(received);',
      replace: 'if (record === "refused") void abandon;',
    },
    {
      find: "project.deleting.includes(place.drive)) return false;",
      replace: 'project.deleting.includes("/")) return false;',
      tests: ["src/store/engine/project_cache_test.ts"],
    },
    {
      find: 'retire(operation, project, place, record, "deleted");',
      replace: "0;",
    },
    {
      find: 'retire(operation, project, place, current.value, "replaced");',
      replace: "void project;",
    },
  ]),
  ...mutantsOf("src/store/files/file_reader.ts", ["src/store/files/file_store_test.ts"], [
    {
      find: "if (now === null || bytesVersion(now) !== bytesVersion(record)) return undefined;",
      replace: "void now;",
    },
    {
      find: "isClosed = true;\n      releaseVersion();",
      replace: "if (isClosed) releaseVersion();\n      isClosed = true;",
    },
    { find: "if (isClosed) close();", replace: "void isClosed;" },
  ]),
  ...mutantsOf("src/store/files/shared_bytes.ts", ["src/store/files/shared_bytes_test.ts"], [
    {
      find: "operation.set(key, marked);",
      replace: "void key;",
    },
    { find: "bytes.shared === undefined ? 2 : 1", replace: "1" },
    {
      find: "if (record.shared !== undefined) {",
      replace: 'if (record.shared !== undefined && project === "") {',
    },
    {
      find: "const due = Date.now() + GARBAGE_GRACE;",
      replace: "const due = Date.now() + 0 * GARBAGE_GRACE;",
    },
    {
      find: ".check(key, versionstamp)\n",
      replace: "\n",
      why: "Who drops the reference first changes the count, which is checked too.",
    },
    { find: "\n      .check(references.key, references.versionstamp);", replace: ";" },
    { find: "?? 0n) <= 1n;", replace: "?? 0n) <= 0n;" },
    { find: "operation.delete(references.key);", replace: "" },
    { find: ".delete(keys.content(version));", replace: ";" },
    { find: "else operation.delete(keys.content(bytesVersion(record)));", replace: "" },
    {
      find: "if (record.sha256 === undefined) operation.delete(keys.undigested(place));",
      replace: "",
      tests: ["src/store/maintenance/scrub_test.ts", "src/store/files/shared_bytes_test.ts"],
    },
  ]),
  ...mutantsOf("src/store/bytes/receive.ts", ["src/store/bytes/receive_test.ts"], [
    {
      find: "await accept(received) ??",
      replace: "await Promise.resolve(accept(received)).catch(() => undefined) ??",
      tests: ["src/store/files/file_store_test.ts"],
    },
    { find: "if (!outcome.ok) throw leaseLost();", replace: "if (!outcome.ok) leaseLost();" },
    {
      find: "this.#throwFailure();\n    return await this.#lease;",
      replace: "return await this.#lease;",
    },
    {
      find: "if (this.#bytes < SWEEP_FROM_BYTES) return;",
      replace: "if (this.#bytes <= SWEEP_FROM_BYTES) return;",
    },
  ]),
  ...mutantsOf("src/store/listing/listing.ts", ["tests/api/files/list_test.ts"], [
    { find: "more: entries.length > limit", replace: "more: entries.length >= limit" },
    {
      find: "while (entries.length <= limit)",
      replace: "while (entries.length < limit)",
    },
    {
      find: "isPrefix ? afterPrefix(after) : boundaryAfter(after)",
      replace: "isPrefix ? afterPrefix(after) : after",
    },
    { find: "byteLength(prefix) > MAX_FILE_NAME", replace: "byteLength(prefix) >= MAX_FILE_NAME" },
    {
      find: "count < limit ? undefined",
      replace: "count <= limit ? undefined",
      tests: ["tests/api/files/list_directories_test.ts"],
    },
    {
      find: "page.entries.filter(({ folder }) => folder === undefined).map(listed)",
      replace: "page.entries.map(listed)",
      tests: ["tests/api/files/folders_test.ts"],
    },
  ]),
  ...mutantsOf("src/store/listing/search.ts", ["src/store/listing/search_test.ts"], [
    { find: "searched === MAX_SEARCHED", replace: "searched > MAX_SEARCHED" },
    { find: "length < size;", replace: "length <= size;" },
    { find: "!isEnd && await", replace: "await", why: "Another read finds no name either." },
  ]),
  ...mutantsOf("src/store/bytes/read_range.ts", ["src/store/bytes/read_range_test.ts"], [
    {
      find: "if (yielded !== range.end - range.start)",
      replace: "if (yielded > range.end - range.start)",
    },
    { find: "Math.min(part.size, range.end - part.start)", replace: "part.size" },
    {
      find: "if (key.at(-1) !== index) break;",
      replace: "void key;",
      why:
        "A chunk in the place of a missing one does not match its checksum: only the message names another reason.",
    },
    {
      find: "if (value.byteLength !== length)",
      replace: "if (value.byteLength > length)",
      why:
        "The checksum of a shorter chunk differs as well: only the message names another reason.",
    },
    { find: "if (batch.length !== to - from)", replace: "if (batch.length > to - from)" },
  ]),
  ...mutantsOf("src/store/bytes/manifest.ts", ["src/store/bytes/manifest_test.ts"], [
    { find: "if (start + size > from)", replace: "if (start + size >= from)" },
    { find: "start += totalSize(page);", replace: "start += totalSize(page) + 1;" },
  ]),
  ...mutantsOf("src/store/bytes/write_lease.ts", ["src/store/bytes/write_lease_test.ts"], [
    { find: ".check(keys.pending(version), null)\n", replace: " \n" },
    {
      find: "return operation.check(this.#key, this.versionstamp);",
      replace: "return operation;",
    },
    { find: "clearInterval(this.#timer);\n    this.db.writing", replace: "this.db.writing" },
    {
      find: "addGarbage(operation, chunksOf(this.entry), Date.now());",
      replace: "addGarbage(operation, chunksOf(this.entry), Infinity);",
    },
  ]),
  ...mutantsOf(
    "src/store/files/small_file_cache.ts",
    ["src/store/files/small_file_cache_test.ts"],
    [
      { find: "cached?.state === state;", replace: "cached !== undefined;" },
      {
        find: "if (this.#recentBytes + bytes > limit) this.#beginGeneration();\n",
        replace: "",
      },
      { find: "if (isCurrent && !this.#recent.has(id)) this.#keep(id, cached);", replace: "" },
    ],
  ),
  ...mutantsOf("src/store/files/file_reader.ts", ["src/store/files/small_file_cache_test.ts"], [
    { find: " && bytesVersion(record) === bytesVersion(known.record)", replace: "" },
  ]),
  ...mutantsOf("src/store/bytes/open_versions.ts", ["src/store/bytes/open_versions_test.ts"], [
    { find: "if (!isHeld) return;", replace: "void isHeld;" },
    { find: "if (--readers.count === 0)", replace: "if (--readers.count >= 0)" },
    { find: "readers.renewals++ > 0", replace: "readers.renewals++ > 9" },
    { find: "if (renewals < 2) return;", replace: "if (renewals >= 0) return;" },
  ]),
];

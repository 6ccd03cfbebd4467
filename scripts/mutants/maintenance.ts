import { type Mutant, mutantsOf } from "./mutant.ts";

/** Changes of garbage collection, backups, checks and disk space. */
export const MAINTENANCE_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/store/maintenance/garbage_collector.ts", [
    "src/store/maintenance/garbage_collector_test.ts",
    "src/store/maintenance/sweeper_test.ts",
  ], [
    {
      find: "return this.openVersions.has(version) || this.#read.has(version);",
      replace: "return this.openVersions.has(version) && this.#read.has(version);",
      tests: [
        "src/store/files/shared_bytes_test.ts",
        "src/store/files/file_store_test.ts",
        "src/store/maintenance/garbage_collector_test.ts",
      ],
    },
    {
      find: "Number(key[1]) > now) return undefined;",
      replace: "Number(key[1]) > 2 * now) return undefined;",
      tests: ["src/store/maintenance/garbage_collector_test.ts"],
    },
    {
      find: "!this.db.writing.has(versionOf(lease.key))",
      replace: "this.db.writing.size >= 0",
      tests: ["src/store/bytes/write_lease_test.ts"],
    },
    {
      find: ".check(write.key, write.versionstamp)\n",
      replace: "\n",
      tests: ["src/store/bytes/write_lease_test.ts"],
      why:
        "A write that is published or abandoned loses its lease in the same operation, and the lease is checked too.",
    },
    {
      find: "hasBytes: (part) => unused.has(part)",
      replace: "hasBytes: () => unused.size >= 0",
      tests: ["src/store/uploads/upload_races_test.ts", "src/store/uploads/upload_store_test.ts"],
    },
    {
      find: "hasBytes: () => true",
      replace: "hasBytes: () => false",
      tests: ["src/store/uploads/upload_races_test.ts", "src/store/uploads/upload_store_test.ts"],
    },
  ]),
  ...mutantsOf("src/store/maintenance/clocks.ts", ["src/store/bytes/write_lease_test.ts"], [
    { find: "silence >= time ||", replace: "silence >= time / 2 ||" },
    { find: "(before === undefined && value < longEnded)", replace: "value < longEnded" },
    { find: "Math.min(elapsed, 2 * SWEEP_INTERVAL)", replace: "elapsed" },
    {
      find: "this.#origin + CLOCK_TOLERANCE;",
      replace: "this.#origin + 1e15 * CLOCK_TOLERANCE;",
      tests: [
        "src/store/maintenance/sweeper_test.ts",
        "src/store/maintenance/garbage_collector_test.ts",
      ],
    },
  ]),
  ...mutantsOf("src/store/backup/backup.ts", ["tests/store/backup_damage_slow_test.ts"], [
    { find: "if (damage.length > 0) {", replace: "if (damage.length > 100) {" },
    {
      find: "await requireTarget(target, source, overwrites);\n      using",
      replace: "using",
      tests: ["tests/store/destructive_commands_test.ts"],
      why:
        "The name is checked again before the copy gets it: the first check only saves making it.",
    },
    {
      find: "{ replaces: overwrites }",
      replace: "{ replaces: true }",
      tests: ["tests/store/destructive_commands_test.ts"],
      why: "Only a file that appears in the same moment is replaced then.",
    },
    {
      find: "if (found === undefined || !await isSameFile(path, file)) continue;",
      replace: "if (found !== undefined) continue;",
      tests: ["tests/store/destructive_commands_test.ts"],
    },
    {
      find: "free - reserve >= needed",
      replace: "free >= needed",
      tests: ["src/store/backup/backup_test.ts"],
    },
  ]),
  ...mutantsOf("src/store/backup/restore.ts", ["tests/store/restore_slow_test.ts"], [
    { find: "await options.check(copy.path);", replace: "" },
    {
      find: 'await lockNow(backup, "shared");',
      replace: "",
      tests: ["tests/store/destructive_commands_test.ts"],
    },
    {
      find: "if (!overwrites && await hasStore(path))",
      replace: 'if (!overwrites && path === "" && await hasStore(path))',
    },
  ]),
  ...mutantsOf("src/store/disk/replaced_store.ts", ["tests/faults/restore_test.ts"], [
    { find: "nlink !== 1 && await", replace: "nlink === 0 && await" },
  ]),
  ...mutantsOf("src/store/verify/counters.ts", ["tests/store/verify_slow_test.ts"], [
    {
      find: "if (counted !== right) wrong.push",
      replace: "if (counted === undefined) wrong.push",
    },
  ]),
  ...mutantsOf("src/store/verify/ownership.ts", ["tests/store/verify_slow_test.ts"], [
    {
      find: 'this.#addOwner(value.version, value.size, "chunks");',
      replace: "void value;",
    },
    {
      find: 'if (value.kind !== "reference") continue;',
      replace: 'if (value.kind !== "reference" || value.name !== "") continue;',
      tests: ["src/store/verify/references_test.ts"],
    },
    {
      find: "return owner?.kind === kind ? owner.size : undefined;",
      replace: 'return kind !== "inline" || owner?.kind === kind ? owner?.size : undefined;',
    },
    {
      find: "marked = marked + excluded.marked",
      replace: "marked = excluded.marked",
      tests: ["src/store/verify/references_test.ts"],
      why:
        "A sum that is too low only makes the check look for files without the mark, and find none.",
    },
    {
      find:
        "return this.hasProject(project) || this.snapshot.has(keys.driveDeletion(project, drive));",
      replace:
        "return this.hasProject(project) && this.snapshot.has(keys.driveDeletion(project, drive));",
      tests: ["src/store/verify/ownership_test.ts"],
    },
  ]),
  ...mutantsOf("src/store/verify/references.ts", ["src/store/verify/references_test.ts"], [
    { find: "hasUnmarked ||= marked < users;", replace: "hasUnmarked ||= marked > users;" },
    {
      find: "if (users < 2 && marked === 0) yield",
      replace: "if (users === 0 && marked === 0) yield",
    },
    {
      find: "(owners.of(bytesVersion(bytes))?.users ?? 0) > 1;",
      replace: "(owners.of(bytesVersion(bytes))?.users ?? 0) > 2;",
    },
    {
      find: "new Operation().check(key, entry?.versionstamp ?? null);",
      replace: "new Operation();",
    },
  ]),
  ...mutantsOf("src/store/disk/disk_space.ts", ["src/store/disk/disk_space_test.ts"], [
    { find: "if (this.#left >= needed) {", replace: "if (this.#left > needed) {" },
    { find: "this.#promised += promised;", replace: "" },
    { find: "free - this.minFree - growth", replace: "free + 0 * this.minFree - growth" },
    {
      find: "(size + UPLOAD_OVERHEAD) * DISK_BYTES_PER_STORED_BYTE",
      replace: "(size + UPLOAD_OVERHEAD) * DISK_BYTES_PER_STORED_BYTE / 2",
    },
  ]),
  ...mutantsOf("src/store/disk/ballast.ts", ["src/store/disk/ballast_test.ts"], [
    { find: ".slice(kept).reverse()", replace: ".reverse()" },
    { find: "this.#isNeeded = true;", replace: "this.#isNeeded = false;" },
    { find: "kept === 0 && this.giveUpGrowth()", replace: "this.giveUpGrowth()" },
  ]),
];

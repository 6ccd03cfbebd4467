import type { Mutant } from "./mutants.ts";

type Change = readonly [find: string, replace: string, survives?: string];

/** The changes, by the file that they are made in and the test files that should notice them. */
const TABLE: readonly (readonly [
  file: string,
  tests: readonly string[],
  changes: readonly Change[],
])[] = [
  ["src/rules/byte_range.ts", ["src/rules/byte_range_test.ts"], [
    ["if (start >= size)", "if (start > size)"],
    ["Number(last) + 1, size", "Number(last), size"],
    ["if (length === 0) return", "if (length < 0) return"],
    ["BigInt(last) < BigInt(first)", "BigInt(last) <= BigInt(first)"],
  ]],
  ["src/rules/preconditions.ts", ["src/rules/preconditions_test.ts"], [
    ['(comparison === "weak" || !weak)', "true"],
    [
      'matches(asked.ifNoneMatch, current, "weak") ? 304 : 200',
      'matches(asked.ifNoneMatch, current, "weak") ? 412 : 200',
    ],
    ["return current.dateIsStrong && ", "return "],
    ["Math.floor(milliseconds / 1000)", "milliseconds / 1000"],
  ]],
  ["src/rules/names.ts", ["src/rules/names_test.ts"], [
    ["bytes > limit ?", "bytes >= limit ?"],
    ['if (name.includes("\\0")) return', "if (false) return"],
    ["last + 1 === FIRST_SURROGATE", "last + 1 < FIRST_SURROGATE"],
    [
      "return unit >= FIRST_SURROGATE && unit < AFTER_SURROGATES",
      "return unit > FIRST_SURROGATE && unit < AFTER_SURROGATES",
    ],
    ["id.length <= MAX_PROJECT_ID && ", ""],
  ]],
  ["src/rules/payloads.ts", ["src/rules/payloads_test.ts"], [
    ["part !== last && size < MIN_PART", "part !== last && size <= MIN_PART"],
    ["if (missing.length > 0) {", "if (missing.length > 1) {"],
  ]],
  ["src/rules/secrets.ts", ["src/rules/secrets_test.ts"], [
    [
      "if (text.length > MAX_KEY_HEADER) return undefined",
      "if (text.length > MAX_KEY_HEADER + 1) return undefined",
    ],
    ["const at = text.indexOf(SEPARATOR)", "const at = text.lastIndexOf(SEPARATOR)"],
  ]],
  ["src/rules/hosts.ts", ["src/rules/hosts_test.ts"], [
    ["publicSuffix === name && ", "publicSuffix !== null && "],
    ['colon > host.lastIndexOf("]")', "colon > 0"],
  ]],
  ["src/store/engine/operation.ts", ["src/store/engine/operation_test.ts"], [
    ["this.touched.isDisjointFrom(other.touched) &&", ""],
    ["if (other.touched.has(id)) return false;", ""],
    ["known.by += BigInt(by);", "known.by = BigInt(by);"],
    ["if (this.#sums.size > 0) return false;", ""],
    ["this.#keyBytes + other.#keyBytes <= MAX_COMMIT_KEY_BYTES &&", ""],
  ]],
  ["src/store/engine/commits.ts", ["src/store/engine/commits_test.ts"], [
    ["if (!isLocked(error)) throw error;", "if (isLocked(error)) throw error;"],
    ['if (ballast.isNeeded) throw new StoreFull("The disk is full");', ""],
    ["!ballast.giveUpGrowth()) throw error", "ballast.giveUpGrowth()) throw error"],
  ]],
  ["src/store/engine/group_commit.ts", ["src/store/engine/group_commit_test.ts"], [
    ["if (count > 0 && !hasRoom) break;", ""],
    [
      "if (unmet.has(operation)) resolve({ ok: false });",
      'if (unmet.has(operation)) resolve({ ok: true, versionstamp: "" });',
    ],
    ["!isMixed || member.operation.hasFileBytes", "true"],
    ["if (!(error instanceof StoreUnavailable)) return false;", ""],
  ]],
  ["src/store/engine/ttl_cache.ts", ["src/store/engine/ttl_cache_test.ts"], [
    ["if (generation !== this.#generation) continue;", ""],
    ["} else if (isCacheable(value)) {", "} else {"],
  ]],
  ["src/store/engine/memory_budget.ts", ["src/store/engine/memory_budget_test.ts"], [
    ["return left >= 0 && (held === 0 || held + bytes <= left)", "return left >= 0"],
    ["if (this.#waiting > 0) this.#serveQueues();", ""],
    ["if (this.#queues.has(project)) return 0;", ""],
  ]],
  ["src/store/engine/project_cache.ts", ["src/store/engine/project_cache_test.ts"], [
    [
      "return found === undefined || found.deleting.includes(drive);",
      "return found === undefined;",
    ],
    ["begun.created !== found.created", "false"],
  ]],
  ["src/store/files/file_store.ts", ["src/store/files/file_store_test.ts"], [
    ['if (record === "refused") await abandon(received);', ""],
    [
      "if (current.value !== null) discardContent(operation, place, current.value, record.layout);",
      "",
    ],
    ["const growth = { more: more - charged", "const growth = { more: more + charged"],
    ["project === undefined || project.deleting.includes(place.drive)", "project === undefined"],
    ["this.#recentDeletions.add(idOf(place));", ""],
    ["releaseVersion();\n", "\n"],
  ]],
  ["src/store/files/receive.ts", [
    "src/store/files/receive_test.ts",
    "src/store/files/file_store_test.ts",
  ], [
    ["await cleanUpAfter(error, () => writer.abandon());", ""],
    ["if (this.#waiting.length > 0) await this.#flush();", "await this.#flush();"],
    ["if (!hasMemory) await Promise.all(this.#running);", ""],
    [
      "while (this.#running.size >= BULK_COMMITS_PER_UPLOAD)",
      "while (this.#running.size > BULK_COMMITS_PER_UPLOAD)",
    ],
  ]],
  ["src/store/files/read_range.ts", ["src/store/files/read_range_test.ts"], [
    ["if (!checksums.matches(index, chunk)) {", "if (false) {"],
    ["if (batch.length !== to - from) throw", "if (batch.length < 0) throw"],
    ["if (part.start >= range.end) return;", "if (part.start > range.end) return;"],
  ]],
  ["src/store/files/listing.ts", [
    "tests/api/files/list_test.ts",
    "tests/api/files/list_directories_test.ts",
  ], [
    ["more: entries.length > limit", "more: entries.length >= limit"],
    ["name.slice(0, slash + 1)", "name.slice(0, slash)"],
    ["return later(prefix, boundaryAfter(last))", "return later(prefix, last)"],
  ]],
  ["src/store/files/write_lease.ts", [
    "src/store/files/write_lease_test.ts",
    "src/store/files/file_store_test.ts",
  ], [
    ["if (!outcome.ok) throw leaseLost();", ""],
  ]],
  ["src/store/files/small_file_cache.ts", ["src/store/files/small_file_cache_test.ts"], [
    ["if (state === undefined || state !== this.#state) this.#clear();", ""],
    ["this.#memory.used + bytes > this.#memory.limit", "false"],
  ]],
  ["src/store/uploads/upload_store.ts", ["src/store/uploads/upload_store_test.ts"], [
    ["if (earlier.value !== null) discardPart(operation, place, earlier.value);", ""],
    ['if (problem !== undefined) throw new UploadRefused("parts", problem);', ""],
    ["if (uploads.length === limit) return { uploads, more: true };", ""],
    ['if (open.completed) return "done";', ""],
  ]],
  ["src/store/uploads/session.ts", ["src/store/uploads/upload_store_test.ts"], [
    ["if (value.name !== name) {", "if (false) {"],
    ["return expires <= Date.now();", "return false;"],
    [".check(revision.key, revision.versionstamp)", ""],
    ["-bytes);", "bytes);"],
  ]],
  ["src/store/uploads/open_upload_limit.ts", ["src/store/uploads/open_upload_limit_test.ts"], [
    ["operation.check(key, null).set", "operation.set"],
    ["if (!taken.has(slot)) free.push(slot);", "free.push(slot);"],
  ]],
  ["src/store/accounts/project_keys.ts", ["src/store/accounts/project_keys_test.ts"], [
    ["if (age > KEY_CACHE_TTL) this.#cache.forget(hash);", ""],
  ]],
  ["src/store/accounts/app_keys.ts", ["src/store/accounts/app_keys_test.ts"], [
    ["if (!current.value.access) throw new AccessIsOff(app);", ""],
    ["if (app?.created === appCreated) return found;", "return found;"],
    ['if (named.value !== null) throw new AlreadyExists("key name", name);', ""],
  ]],
  ["src/store/accounts/sessions.ts", ["src/store/accounts/sessions_test.ts"], [
    ["if (session.expires <= Date.now()) {", "if (false) {"],
    ["key?.project !== project || ", ""],
  ]],
  ["src/store/accounts/deletions.ts", ["src/store/accounts/deletions_test.ts"], [
    ["if (value.project !== project) continue;", ""],
    ["if (value.host !== undefined) step.delete(keys.appHost(value.host));", ""],
  ]],
  ["src/store/accounts/apps.ts", ["src/store/accounts/apps_test.ts"], [
    ["return info?.host === host ? info : undefined;", "return info;"],
    ['if (deletion.value !== null) throw new BeingDeleted("app", app);', ""],
  ]],
  ["src/store/quotas/quotas.ts", [
    "src/store/quotas/quotas_test.ts",
    "src/store/quotas/quotas_uploads_test.ts",
  ], [
    ["if (!fitsQuota({ used, limit }, more)) {", "if (false) {"],
  ]],
  ["src/store/quotas/quota_queue.ts", [
    "src/store/quotas/quota_queue_test.ts",
    "src/store/quotas/quotas_test.ts",
  ], [
    ["if (!isMet) return this.#refuse([change]);", ""],
    ["if (!fitsQuota({ ...account, used: sum.bytes }, more)) continue;", ""],
  ]],
  ["src/store/maintenance/garbage_collector.ts", [
    "src/store/maintenance/garbage_collector_test.ts",
    "src/store/maintenance/sweeper_test.ts",
  ], [
    ["return !this.#openVersions.has(value.file);", "return true;"],
    ["Number(key[1]) > now", "false"],
    [
      "if (!this.#isStopped) await batch.add(key, value.kind);",
      "await batch.add(key, value.kind);",
    ],
    ["!this.#db.writing.has(String(key.at(-1)))", "true"],
  ]],
  ["src/store/maintenance/scrub.ts", ["src/store/maintenance/scrub_test.ts"], [
    ['if (outcome.kind === "damaged") outcome = await this.#read(place);', ""],
    ["return passed >= every || passed < 0;", "return passed >= every;"],
  ]],
  ["src/store/disk/disk_space.ts", ["src/store/disk/disk_space_test.ts"], [
    [
      "if (this.#isOld || this.#left < needed) await this.#measure();",
      "if (this.#isOld) await this.#measure();",
    ],
    ["this.#promised -= needed", "this.#promised -= 0"],
  ]],
  ["src/store/disk/ballast.ts", ["src/store/disk/ballast_test.ts"], [
    ["if (!removed(this.#growthPath)) return false;", "removed(this.#growthPath);"],
    ["if (held >= bytes) return;", ""],
  ]],
  ["src/gate/authorization.ts", ["tests/gate/callers_test.ts"], [
    ["if (owner?.project === project) return", "if (owner !== undefined) return"],
    ["found?.project === project && found.app === app", "found?.project === project"],
    ["session?.project === project && session.app === app", "session?.app === app"],
    ["key.length > MAX_KEY_HEADER", "false"],
  ]],
  ["src/gate/forwarded_headers.ts", [
    "src/gate/forwarded_headers_test.ts",
    "tests/gate/forwarding_test.ts",
  ], [
    ["trusted === undefined || !trusted.has(peer.address)", "trusted === undefined"],
    [
      "if (REQUEST_DROPPED.has(name) || TRUSTED_BY_APPS.test(name)) return undefined;",
      "if (REQUEST_DROPPED.has(name)) return undefined;",
    ],
    ['lower === "cookie" ? withoutSessionCookie(value) : value', "value"],
    ['return lower !== "set-cookie" || !setsSessionCookie(value);', "return true;"],
  ]],
  [
    "src/gate/session_cookie.ts",
    ["src/gate/session_cookie_test.ts", "tests/gate/sign_in_test.ts"],
    [
      ['if (scope.isSecure) attributes.push("Secure");', ""],
      ['site === "same-origin"', 'site !== "cross-site"'],
    ],
  ],
  ["src/gate/routing.ts", ["src/gate/routing_test.ts"], [
    ['path.includes("\\\\") || ', ""],
    ["app !== undefined && hosts.isClaimable(hostname) ? app", "app !== undefined ? app"],
  ]],
  ["src/gate/sign_in.ts", ["src/gate/sign_in_test.ts", "tests/gate/sign_in_test.ts"], [
    ["origin !== PLACEHOLDER_ORIGIN || ", ""],
    ["if (owner?.project !== project) return undefined;", ""],
    ["session?.project === project && ", ""],
  ]],
  ["src/http/network/wrong_keys.ts", ["src/http/network/wrong_keys_test.ts"], [
    ["Math.ceil(wrong) - this.#free", "Math.floor(wrong) - this.#free"],
    ["if (group.size > this.#size) removeFirst(group);", ""],
  ]],
  ["src/http/network/client_address.ts", ["src/http/network/client_address_test.ts"], [
    ["if (!trusted.has(address)) return address;", ""],
    ["isIPv6(parsed) ? 64 : 24", "isIPv6(parsed) ? 128 : 24"],
  ]],
  ["src/http/network/upstream_rules.ts", ["src/http/network/upstream_rules_test.ts"], [
    ["if (isIn(LINK_LOCAL, remote)) return false;", ""],
    [
      "!isLocal || !this.#ownPorts.has(target.port)) return undefined",
      "!isLocal) return undefined",
    ],
  ]],
  ["src/http/authentication.ts", ["src/http/authentication_test.ts", "tests/api/keys_test.ts"], [
    [
      "if (await projectOfKey(headers, auth) !== project) throw errors.wrongProject();",
      "await projectOfKey(headers, auth);",
    ],
    ["token.length <= MAX_KEY_HEADER && ", ""],
  ]],
  ["src/http/body.ts", ["src/http/body_test.ts"], [
    ["if (expected !== undefined && expected !== actual) throw", "if (false) throw"],
  ]],
  ["src/http/cors.ts", ["src/http/cors_test.ts", "tests/api/cors_test.ts"], [
    ["origin === null || !allowed.includes(origin)", "origin === null"],
  ]],
  ["src/http/upload_slots.ts", ["src/http/upload_slots_test.ts"], [
    ["if (!this.#mayTake(project)) continue;", ""],
    ["if (queue.length >= this.#maxWaiting) throw", "if (queue.length > this.#maxWaiting) throw"],
  ]],
  ["src/http1/message_head.ts", ["src/http1/message_head_test.ts"], [
    ["if (before !== CR) throw", "if (false) throw"],
    ["lines.length > MAX_HEADERS + 1", "lines.length > MAX_HEADERS + 2"],
    ["|| byte === DELETE", "|| false"],
  ]],
  ["src/http1/body.ts", ["src/http1/body_test.ts"], [
    ["if (minor === 0) throw", "if (false) throw"],
    ["length !== undefined && length !== parsed", "false"],
    ["this.#trailers > MAX_TRAILERS || ", ""],
    ["status === 204 || status === 304", "status === 204"],
  ]],
  ["src/http1/headers.ts", ["src/http1/message_head_test.ts", "src/http1/body_test.ts"], [
    ["if (!isToken(name)) throw", "if (false) throw"],
  ]],
  ["src/http1/connection_table.ts", ["src/http1/connection_table_test.ts"], [
    ["if (isNetworkFull && !this.evict(network)) return false;", ""],
  ]],
  ["src/api/files/delete_files.ts", ["tests/api/files/delete_test.ts"], [
    ["names.length > MAX_DELETE_NAMES", "names.length >= MAX_DELETE_NAMES"],
    ["return [...new Set(names)];", "return names;"],
  ]],
  ["src/api/files/download_file.ts", [
    "tests/api/files/download_test.ts",
    "tests/api/files/ranges_test.ts",
  ], [
    [
      'if (!allowsRange(request.headers.get("if-range"), validators(record))) return undefined;',
      "",
    ],
    ['if (request.method !== "GET") return undefined;', ""],
  ]],
  ["src/api/files/put_file.ts", [
    "tests/api/files/conditions_test.ts",
    "tests/api/files/write_races_test.ts",
  ], [
    ["allowsWrite(conditions, current);", "true || current === undefined;"],
  ]],
  ["src/api/drive_call.ts", ["tests/api/files/content_digest_test.ts"], [
    ["assertDigest(digest, sha256);", ""],
  ]],
  ["src/api/files/list_files.ts", ["tests/api/files/list_test.ts"], [
    ['query.flag("recursive", true)', 'query.flag("recursive", false)'],
  ]],
];

export const MUTANTS: readonly Mutant[] = TABLE.flatMap(([file, tests, changes]) =>
  changes.map(([find, replace, survives]) => ({
    file,
    find,
    replace,
    tests,
    ...(survives === undefined ? {} : { survives }),
  }))
);

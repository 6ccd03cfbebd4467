import { type Mutant, mutantsOf } from "./mutant.ts";

/** Changes of keys, sessions, applications and deletions. */
export const ACCOUNTS_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/store/accounts/admin_token.ts", ["src/store/accounts/admin_token_test.ts"], [
    { find: "this.#cache.clear();", replace: "" },
    { find: "(current) => current === null", replace: '(current) => current !== ""' },
    {
      find: "given.byteLength === wanted.byteLength && timingSafeEqual",
      replace: "given.byteLength === wanted.byteLength || timingSafeEqual",
    },
  ]),
  ...mutantsOf("src/store/accounts/app_keys.ts", ["src/store/accounts/app_keys_test.ts"], [
    {
      find: "this.#cache.forget(hash);\n    this.revocations.notify();",
      replace: "this.revocations.notify();",
    },
    {
      find: "this.#cache.forget(hash);\n    this.revocations.notify();",
      replace: 'this.#cache.forget(hash);\n    if (name === "") this.revocations.notify();',
    },
    {
      find: "if (app?.created === appCreated) return found;",
      replace: "if ((app?.created ?? 0) >= appCreated) return found;",
    },
    { find: ".delete(keys.appKey(named.value));", replace: ";" },
    {
      find: "if (!current.value.access) throw",
      replace: 'if (!current.value.access && name === "") throw',
    },
  ]),
  ...mutantsOf("src/store/accounts/key_entries.ts", ["src/store/accounts/project_keys_test.ts"], [
    {
      find: "this.#cache.forget(id);\n    if (isRevoked)",
      replace: "if (isRevoked)",
    },
    { find: "if (age > KEY_CACHE_TTL)", replace: "if (age > 100 * KEY_CACHE_TTL)" },
    {
      find: "return (await this.find(id))?.key.project === project;",
      replace: "return (await this.find(id))?.key.project !== project.slice(0, 0);",
    },
  ]),
  ...mutantsOf("src/store/accounts/key_entries.ts", ["src/store/accounts/key_limits_test.ts"], [
    {
      find: "await this.#expire(id, key);\n      return undefined;",
      replace: "return undefined;",
    },
    {
      find: "if (by !== undefined && !opens(maker.value, project)) throw",
      replace: "if (by !== undefined && maker.value === null) throw",
    },
    { find: "return expires <= now;", replace: "return expires < now;" },
    { find: "if (now < key.lastUsed + HOUR)", replace: "if (now <= key.lastUsed)" },
    { find: "key.lastUsed = now - now % HOUR;", replace: "key.lastUsed = now;" },
    {
      find: "new Operation().check(this.kind.record(id), key.versionstamp)\n",
      replace: "new Operation().check([...this.kind.record(id), 0], null)\n",
    },
    {
      find: "operation.delete(kind.record(id)).delete(kind.use(id))",
      replace: "operation.delete([...kind.record(id), 0]).delete(kind.use(id))",
    },
    {
      find: ".check(use, key.useVersionstamp);",
      replace: ";",
      why: "Processes that look up a key at the same moment would store the same hour, once each.",
    },
    {
      find: "for (const each of Object.values(journalIds(id))) operation",
      replace: "for (const each of Object.values(journalIds(id)).slice(1)) operation",
    },
  ]),
  ...mutantsOf("src/store/accounts/key_entries.ts", ["src/store/accounts/s3_keys_test.ts"], [
    { find: "record?.project !== project", replace: "record === null" },
    { find: "if (!within.coversScope(rights)) return", replace: "if (!isFound) return" },
    { find: "within.requireToRevoke(rights);", replace: "" },
  ]),
  ...mutantsOf("src/store/accounts/s3_keys.ts", ["src/store/accounts/s3_keys_test.ts"], [
    { find: "if (!isAccessKeyId(accessKeyId)) return undefined;", replace: "" },
    { find: "this.#reported.add(error.message);", replace: "" },
  ]),
  ...mutantsOf("src/store/accounts/s3_secrets.ts", ["src/store/accounts/s3_secrets_test.ts"], [
    {
      find: "JSON.stringify([accessKeyId, project])",
      replace: "accessKeyId + project",
    },
    {
      find: "if (existing) return existing;",
      replace: "if (existing && existing.length === 0) return existing;",
    },
    { find: "if (!this.isOurs) return await this.read();", replace: "" },
  ]),
  ...mutantsOf("src/store/sessions/app_sessions.ts", ["src/store/sessions/app_sessions_test.ts"], [
    { find: "if (session.expires <= Date.now())", replace: "if (session.expires <= 0)" },
    {
      find: "key?.project !== project ||",
      replace: "key === undefined ||",
      why: "`start` has checked the project of the key, and a key never gets another project.",
    },
    {
      find: "!opens(key.value, project))",
      replace: "key.value === null && !opens(key.value, project))",
    },
    {
      find: "await this.#delete(hash);\n    this.revocations.notify();",
      replace: 'await this.#delete(hash);\n    if (hash === "") this.revocations.notify();',
    },
    { find: "this.#cache.forget(hash);", replace: "" },
  ]),
  ...mutantsOf("src/store/accounts/apps.ts", ["src/store/accounts/apps_test.ts"], [
    { find: "info?.host === host ? info : undefined", replace: "info" },
    { find: "this.revocations.notify();\n    return after;", replace: "return after;" },
    {
      find: "former.value.host !== host || isEffectiveHost(former.value, owner.value)",
      replace: "former.value.host !== host",
    },
  ]),
  ...mutantsOf("src/store/accounts/deletions.ts", ["src/store/accounts/deletions_slow_test.ts"], [
    {
      find: "if (value.project !== project) continue;",
      replace: 'if (value.project === "" && project !== "") continue;',
    },
    {
      find: "if (current.versionstamp !== marker.versionstamp)",
      replace: "if (current.versionstamp === null)",
      why:
        "The operation checks the marker as well: the run fails and is repeated, where it would end at once.",
    },
    {
      find: "removing.filter((name) => name !== drive)",
      replace: "removing.filter((name) => name === drive)",
    },
  ]),
];

import { type Mutant, mutantsOf } from "./mutant.ts";

/** Changes of the HTTP layer and the API. */
export const HTTP_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/http/authentication.ts", ["src/http/authentication_test.ts"], [
    {
      find: "caller.project !== project) throw",
      replace: "caller.project === project.slice(0, 0)) throw",
    },
    {
      find: "if (!isEnded && await keys.isStillValid(hash, caller.project, age)) return;",
      replace:
        "if (!isEnded && (age >= 0 || await keys.isStillValid(hash, caller.project, age))) return;",
    },
    {
      find: 'key.length > MAX_KEY_HEADER ? ""',
      replace: 'key.length >= MAX_KEY_HEADER ? ""',
    },
    {
      find: "throw keyRefusal(errors.unknownKey(), headers, auth);",
      replace: "throw errors.unknownKey();",
    },
    {
      find: "throw keyRefusal(errors.unknownToken(), headers, auth);",
      replace: "throw errors.unknownToken();",
    },
  ]),
  ...mutantsOf("src/http/authentication.ts", [
    "tests/api/admin/files_test.ts",
    "tests/api/errors_test.ts",
  ], [
    { find: 'headers.has("x-api-key") || bearerToken', replace: "bearerToken" },
  ]),
  ...mutantsOf("src/api/drive_call.ts", ["src/api/drive_call_test.ts"], [
    {
      find: "reauthorize: () => reauthenticate(caller, auth)",
      replace: "reauthorize: async () => void reauthenticate",
    },
  ]),
  ...mutantsOf("src/api/permissions.ts", ["src/app_permissions_test.ts"], [
    { find: "rights.require(...need.permissions);", replace: "" },
    { find: 'if (need.of === "whole project") rights.requireWholeProject();', replace: "" },
  ]),
  ...mutantsOf("src/api/drive_call.ts", ["tests/api/files/key_rights_test.ts"], [
    { find: "rights.requireDrive(drive);", replace: "void rights;" },
    { find: "rights.requireName(name);", replace: "void rights;" },
  ]),
  ...mutantsOf("src/api/files/list_files.ts", ["tests/api/files/key_rights_test.ts"], [
    {
      find: "compareNames(directory, query.last) <= 0",
      replace: "compareNames(directory, query.last) < 0",
    },
    { find: "entries.length > 0 ||", replace: "entries.length > 1 ||" },
    {
      find: "store.list({ ...query, prefix }, {",
      replace: "store.list({ ...query, prefix: query.prefix }, {",
    },
  ]),
  ...mutantsOf("src/api/files/delete_files.ts", ["tests/api/files/key_rights_test.ts"], [
    { find: "for (const name of names) call.rights.requireName(name);", replace: "" },
  ]),
  ...mutantsOf("src/api/files/copy_files.ts", ["tests/api/files/key_rights_copy_test.ts"], [
    { find: "rights.requireDrive(drive);", replace: "void rights;" },
    { find: "rights.requireName(name);", replace: "void rights;" },
  ]),
  ...mutantsOf("src/api/admin/project_keys.ts", ["tests/api/admin/key_rights_test.ts"], [
    {
      find: "rights.requireToCreate(new Rights(limits), prefixField);",
      replace: "void [rights, Rights];",
    },
    { find: "rights.coversScope(key.rights)", replace: "rights !== key.rights" },
    {
      find: "revoke(project, prefix, { within: rights, actor })",
      replace: "revoke(project, prefix, (void rights, { actor }))",
    },
  ]),
  ...mutantsOf("src/http/body.ts", ["src/http/body_test.ts"], [
    {
      find: "if (size > limit) throw tooLarge(limit);\n  return",
      replace: "if (size >= limit) throw tooLarge(limit);\n  return",
    },
    {
      find: "if (size > limit) throw tooLarge(limit);\n      yield",
      replace: "if (size >= limit) throw tooLarge(limit);\n      yield",
    },
    {
      find: "announced !== undefined && announced !== size",
      replace: "announced !== undefined && announced < size",
    },
    {
      find: "if (expected !== undefined && expected !== actual) throw",
      replace: 'if (expected === "" && expected !== actual) throw',
    },
    { find: 'if (algorithm !== "sha-256") continue;', replace: 'if (algorithm === "") continue;' },
    {
      find: "Math.min(grace, Math.max(0, left) + earned)",
      replace: "Math.max(0, left) + earned + 0 * grace",
    },
  ]),
  ...mutantsOf("src/http/json_body.ts", ["src/http/json_body_test.ts"], [
    {
      find: "if (known.includes(name)) continue;",
      replace: "if (known.length > 0 || known.includes(name)) continue;",
    },
    {
      find: "this.#numberIn(name, 1, Number.MAX_SAFE_INTEGER, wanted)",
      replace: "this.#numberIn(name, 0, Number.MAX_SAFE_INTEGER, wanted)",
      tests: ["tests/api/quota_test.ts"],
    },
    { find: "if (needed > reserved) {", replace: "if (needed > limit) {" },
  ]),
  ...mutantsOf("src/http/cors.ts", ["src/http/cors_test.ts"], [
    {
      find: "if (origin === null || !allowed.includes(origin)) return;",
      replace: "if (origin === null) return;",
    },
    { find: 'response.append("Vary", "Origin");', replace: "" },
  ]),
  ...mutantsOf("src/http/network/client_address.ts", ["src/http/network/client_address_test.ts"], [
    { find: "if (!trusted.has(address)) return address;", replace: "" },
    { find: '.split(",").reverse()', replace: '.split(",")' },
    { find: "return bits > most ?", replace: "return bits >= most ?" },
  ]),
  ...mutantsOf("src/http/network/upstream_rules.ts", ["src/http/network/upstream_rules_test.ts"], [
    { find: "if (!this.allowsAddress(target, remote)) return false;", replace: "" },
    {
      find: "return !isLocal || !this.ownPorts.has(target.port);",
      replace: "return !isLocal || this.ownPorts.size === 0;",
    },
    {
      find: "leadsTo(LOOPBACK, remote) || remote === addressOf(localAddr)",
      replace: "leadsTo(LOOPBACK, remote) || localAddr === undefined",
    },
  ]),
  ...mutantsOf("src/http/network/wrong_keys.ts", ["src/http/network/wrong_keys_test.ts"], [
    { find: "const until = steps < 0", replace: "const until = steps <= 0" },
    {
      find: "if (wait !== undefined) return wait;",
      replace: "if (wait !== undefined && wait > WRONG_KEY_FIRST_WAIT / 1000) return wait;",
    },
    {
      find: "if (group.size > this.size) removeFirst(group);",
      replace: "if (group.size > 2 * this.size) removeFirst(group);",
    },
  ]),
  ...mutantsOf("src/http/upload_slots.ts", ["src/http/upload_slots_test.ts"], [
    { find: "< SHARE * this.#free", replace: "<= SHARE * this.#free" },
    { find: "queue.length >= maxWaiting", replace: "queue.length > maxWaiting" },
  ]),
  ...mutantsOf("src/http/request_target.ts", ["src/http/request_target_test.ts"], [
    { find: "host !== null && !isHost(host)", replace: "host === null" },
    { find: "if (values.length > 1) throw", replace: "if (values.length > 2) throw" },
  ]),
];

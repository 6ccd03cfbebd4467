import { type Mutant, mutantsOf } from "./mutant.ts";

/** Changes of the gate. */
export const GATE_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/gate/authorization.ts", ["tests/gate/callers_test.ts"], [
    {
      find: "if (owner?.project === project && owner.rights.isOwners) {",
      replace: "if (owner?.rights.isOwners) {",
    },
    {
      find: "if (owner?.project === project && owner.rights.isOwners) {",
      replace: "if (owner?.project === project) {",
    },
    {
      find: "if (found?.project === project && found.app === app) {",
      replace: 'if (found?.project === project && app !== "") {',
    },
    {
      find: "session?.project === project && session.app === app",
      replace: 'session?.project === project && app !== ""',
      tests: ["tests/gate/sign_in_test.ts"],
    },
    {
      find: "if (!mayUseSession(head, client.host)) return [];",
      replace: 'if (head.method === "" && !mayUseSession(head, client.host)) return [];',
      tests: ["tests/gate/sign_in_test.ts"],
    },
    {
      find: 'connection.has("upgrade") || framing !== NO_BODY) return false;',
      replace:
        "framing === undefined || NO_BODY === undefined || connection.size < 0) return false;",
    },
    {
      find: "const wait = isCounted ? wrongKeys.record(client.address) : undefined;",
      replace: 'const wait = client.address === "" ? wrongKeys.record(client.address) : undefined;',
      tests: ["tests/gate/limits_test.ts", "tests/gate/callers_test.ts"],
    },
    {
      find: "if (key.length > MAX_KEY_HEADER) return",
      replace: "if (key.length >= MAX_KEY_HEADER) return",
      tests: ["src/gate/authorization_test.ts"],
    },
    {
      find: 'if (found === undefined || prefix === "" && found.host !== host) return false;',
      replace: "if (found === undefined || prefix === host) return false;",
      tests: ["src/gate/authorization_test.ts"],
    },
  ]),
  ...mutantsOf("src/gate/session_cookie.ts", ["src/gate/session_cookie_test.ts"], [
    {
      find: 'SAFE_METHODS.has(method) && !connection.has("upgrade")',
      replace: "SAFE_METHODS.has(method) && connection.size >= 0",
      tests: ["tests/gate/sign_in_test.ts"],
    },
    {
      find: 'if (site !== undefined) return site === "same-origin";',
      replace: 'if (site !== undefined) return site.startsWith("same-");',
      tests: ["tests/gate/sign_in_test.ts"],
    },
    {
      find: "const others = pairs.filter((pair) => !SESSION_PAIR.test(pair));",
      replace: "const others = pairs.filter((pair) => !pair.trim().startsWith(`${NAME}=`));",
    },
    {
      find: 'if (scope.isSecure) attributes.push("Secure");',
      replace: "",
      tests: ["tests/gate/sign_in_test.ts"],
    },
  ]),
  ...mutantsOf("src/gate/routing.ts", ["src/gate/routing_test.ts"], [
    {
      find: "if (rest !== undefined) requireNoDotSegments(rest);",
      replace: 'if (rest === "") requireNoDotSegments(rest);',
    },
    { find: 'path.includes("\\\\") || ', replace: "" },
    {
      find: "app !== undefined && hosts.isClaimable(hostname) ? app",
      replace: "app !== undefined && hosts !== undefined ? app",
    },
    { find: "created: 0, access: true }", replace: "created: 0, access: false }" },
  ]),
  ...mutantsOf("src/gate/sign_in.ts", ["src/gate/sign_in_test.ts"], [
    {
      find: "if (owner?.project !== project) return undefined;",
      replace: "if (owner === undefined) return undefined;",
      tests: ["tests/gate/sign_in_test.ts"],
      why:
        "SessionStore.start checks the project of the key again, in the operation that stores the session.",
    },
    {
      find: 'origin !== PLACEHOLDER_ORIGIN || pathname.startsWith("//")',
      replace: "origin !== PLACEHOLDER_ORIGIN",
    },
    { find: "!pathname.startsWith(`${prefix}/`) ||", replace: "" },
    {
      find: "if (!isSameOrigin(headers, host)) throw",
      replace: "if (headers.length === 0 && !isSameOrigin(headers, host)) throw",
      tests: ["tests/gate/sign_in_test.ts"],
    },
  ]),
  ...mutantsOf("src/gate/forwarded_headers.ts", ["src/gate/forwarded_headers_test.ts"], [
    {
      find: "if (trusted === undefined || !trusted.has(address)) return peer;",
      replace: "if (trusted === undefined) return peer;",
    },
    { find: '"x-api-key",\n  "x-request-id",\n]);', replace: '"x-request-id",\n]);' },
    { find: '"x-request-id",\n]);', replace: "]);" },
    {
      find: "HOP_BY_HOP.has(lower) || connection.has(lower)",
      replace: "HOP_BY_HOP.has(lower) || connection.size < 0",
    },
    {
      find: 'lower !== "set-cookie" || !setsSessionCookie(value)',
      replace: 'lower !== "set-cookie" || !setsSessionCookie(value.slice(0, 0))',
    },
    {
      find: "if (hasLength || isUpgrade || response.status === 204) continue;",
      replace: "if (hasLength && response.status === 204) continue;",
    },
  ]),
  ...mutantsOf("src/gate/proxied_request.ts", ["tests/gate/connections_slow_test.ts"], [
    {
      find: 'if (!body.end()) throw new ConnectionLost("The response is incomplete");',
      replace: "body.end();",
      tests: [
        "tests/gate/streams_test.ts",
        "tests/gate/connections_slow_test.ts",
        "tests/gate/smuggling_test.ts",
      ],
    },
    {
      find: 'framing.kind !== "close" && upstream.reader.length === 0',
      replace: 'framing.kind !== "close"',
    },
    { find: "if (!isRepeatable || !isUnanswered ||", replace: "if (!isUnanswered ||" },
    {
      find: 'if (!isAuthorized && !this.#isFinished) this.abort("cut off");',
      replace: 'if (!isAuthorized && this.#isFinished) this.abort("cut off");',
      tests: ["tests/gate/revocation_test.ts"],
    },
  ]),
];

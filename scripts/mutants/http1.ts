import { type Mutant, mutantsOf } from "./mutant.ts";

/** Changes of the HTTP/1.1 server. */
export const HTTP1_MUTANTS: readonly Mutant[] = [
  ...mutantsOf("src/http1/body.ts", ["src/http1/body_test.ts", "src/http1/message_head_test.ts"], [
    {
      find:
        'if (length !== undefined) {\n    throw new MalformedMessage("it has both Content-Length and Transfer-Encoding: send one");',
      replace:
        'if (length === "") {\n    throw new MalformedMessage("it has both Content-Length and Transfer-Encoding: send one");',
    },
    {
      find:
        'if (minor === 0) throw new MalformedMessage("HTTP/1.0 does not define Transfer-Encoding");',
      replace: "void minor;",
    },
    {
      find: 'if (coding.toLowerCase() !== "chunked") {',
      replace: 'if (!coding.toLowerCase().includes("chunked")) {',
    },
    {
      find: "if (at === start || buffer[at - 1] !== CR) throw invalidLine();",
      replace: "if (at === start || buffer[at - 1] === LF - CR) throw invalidLine();",
    },
    {
      find: 'else if (line === "") this.#state = "size";',
      replace: 'else if (line.length >= 0) this.#state = "size";',
    },
    { find: "this.#trailers > MAX_TRAILERS ||", replace: "" },
    {
      find: "if (length !== undefined && length !== parsed) {",
      replace: "if (length !== undefined && length < 0) {",
    },
    { find: "/^[0-9]+$/.test(text) &&", replace: "" },
    { find: "if (end - start >= MAX_CHUNK_LINE) throw invalidLine();", replace: "" },
    { find: 'this.#state = "malformed";\n', replace: " \n" },
  ]),
  ...mutantsOf("src/http1/message_head.ts", ["src/http1/message_head_test.ts"], [
    { find: "if (reader.isFull) throw headTooLong();", replace: "" },
    {
      find: "parseHeaders(text, end + 2, MAX_HEADERS);",
      replace: "parseHeaders(text, end + 2, MAX_HEADERS + 1);",
    },
    {
      find:
        'if (before !== CR) throw new MalformedMessage("a line of its head does not end with CR LF");',
      replace: "",
    },
    { find: "} else if (before === CR) {", replace: "} else if (before === CR && byte === CR) {" },
    {
      find: "if (host === undefined ? minor === 1 :",
      replace: 'if (host === undefined ? minor === 1 && target === "" :',
    },
    {
      find: 'role === "proxy" && target.length > MAX_TARGET',
      replace: 'role === "proxy" && target.length >= MAX_TARGET',
    },
    { find: '(method === "CONNECT" || method === "TRACE")', replace: 'method === "CONNECT"' },
  ]),
  ...mutantsOf("src/http1/connection_table.ts", ["src/http1/connection_table_test.ts"], [
    {
      find: "this.#makeRoom(used, this.#maxPerNetwork, group, network)",
      replace: "this.#makeRoom(used, this.#maxPerNetwork + 1, group, network)",
    },
    {
      find: "connection.stalledSince >= since) continue;",
      replace: "connection.stalledSince >= since + Infinity) continue;",
    },
    {
      find:
        "if (network !== undefined && one.network !== network) continue;\n      if (one.network",
      replace: 'if (network === "" && one.network !== network) continue;\n      if (one.network',
    },
    {
      find: "if (counts.server + counts.gate > 0) this.#networks.set",
      replace: "if (counts.server + counts.gate > 1) this.#networks.set",
    },
    {
      find: "this.#makeRoom(this.#counts, this.#max, group)",
      replace: "this.#makeRoom(this.#counts, this.#max + 1, group)",
    },
  ]),
];

import { MAX_PAYLOAD } from "../../../support/bytes.ts";
import { rawRequest } from "../../../support/raw.ts";
import { PROJECT_ID } from "../../../support/server.ts";

/** Bytes that a client sends, and the correct statuses. 0 stands for a closed connection. */
export interface PeerCase {
  what: string;
  send: string;
  right: readonly number[];
  /** Whether the sender closes its direction afterwards. */
  ends?: boolean;
}

/** The name of the file in every malformed write. */
export const VICTIM = "victim";
const DRIVE = `/v1/${PROJECT_ID}/peers`;
const UPLOAD = `${DRIVE}/files?name=${VICTIM}`;
export const DOWNLOAD = `${DRIVE}/files/download?name=${VICTIM}`;
const MALFORMED = [400, 0];

function upload(headers: Record<string, string | null>, body: string): string {
  return rawRequest("POST", UPLOAD, headers, body);
}

function chunked(body: string): string {
  return upload({ "Transfer-Encoding": "chunked" }, body);
}

function get(headers: Record<string, string | null>, target = DOWNLOAD): string {
  return rawRequest("GET", target, headers);
}

/** Returns a request with an unchanged line among its headers. */
function withLine(line: string, method = "GET", body = ""): string {
  return rawRequest(method, method === "GET" ? DOWNLOAD : UPLOAD, {}, body)
    .replace("\r\n", `\r\n${line}\r\n`);
}

export const BAD_HEADS: readonly PeerCase[] = [
  ...["bad host", "a/b", "a?b", "a#b", "user@a", "[", "[::1", "a:b:c", "a:99999", "a\\b"].map(
    (host) => ({
      what: `the host ${JSON.stringify(host)}`,
      send: get({ Host: host }),
      right: [400],
    }),
  ),
  { what: "two hosts", send: withLine("Host: other"), right: MALFORMED },
  { what: "no version", send: `GET ${DOWNLOAD}\r\n\r\n`, right: MALFORMED },
  { what: "an unknown version", send: `GET ${DOWNLOAD} HTTP/9.9\r\n\r\n`, right: MALFORMED },
  { what: "no target", send: "GET HTTP/1.1\r\nHost: a\r\n\r\n", right: [...MALFORMED, 404] },
  { what: "a blank in the target", send: get({}, "/v1/a b/c"), right: MALFORMED },
  { what: "no request line", send: "\0\x01\x02\x03\r\n\r\n", right: MALFORMED },
  {
    what: "a TLS greeting",
    send: "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n",
    right: MALFORMED,
  },
  { what: "a header without a colon", send: withLine("nothing"), right: MALFORMED },
  { what: "a header without a name", send: withLine(": value"), right: MALFORMED },
  { what: "a blank before the colon", send: withLine("X-A : b"), right: MALFORMED },
  { what: "a NUL in a header", send: withLine("X-A: b\0c"), right: MALFORMED },
  { what: "a folded header", send: withLine("X-A: b\r\n c"), right: MALFORMED },
  { what: "a lone carriage return", send: withLine("X-A: b\rc"), right: MALFORMED },
  {
    what: "a header of 64 KiB",
    send: get({ "X-A": "a".repeat(65_536) }),
    right: [431, ...MALFORMED],
  },
  {
    what: "a header of 1 MiB",
    send: get({ "X-A": "a".repeat(2 ** 20) }),
    right: [431, ...MALFORMED],
  },
  {
    what: "a thousand headers",
    send: withLine(Array.from({ length: 1000 }, (_, i) => `X-${i}: a`).join("\r\n")),
    right: [431, ...MALFORMED],
  },
  {
    what: "a target of 70 KB",
    send: get({}, `${DOWNLOAD}${"a".repeat(70_000)}`),
    right: [414, 431, ...MALFORMED],
  },
  {
    what: "a target of 60 KB",
    send: get({}, `${DOWNLOAD}${"a".repeat(60_000)}`),
    right: [400, 404, 414],
  },
  { what: "a truncated head", send: "GET / HTTP/1.1\r\nHos", right: MALFORMED, ends: true },
];

export const BAD_METHODS: readonly PeerCase[] = [
  ...["TRACE", "PUT", "BREW", "get", "M-SEARCH", "__proto__", "x".repeat(1000)].map(
    (method) => ({
      what: `the method ${method.slice(0, 20)}`,
      send: rawRequest(method, DOWNLOAD),
      right: [405],
    }),
  ),
  {
    what: "CONNECT with a path",
    send: rawRequest("CONNECT", DOWNLOAD),
    right: [...MALFORMED, 405],
  },
  {
    what: "CONNECT to another host",
    send: rawRequest("CONNECT", "example.org:443"),
    right: [400, 404, 405],
  },
  { what: "a method with invalid characters", send: rawRequest("G(T", DOWNLOAD), right: MALFORMED },
];

export const BAD_LENGTHS: readonly PeerCase[] = [
  ...["-1", "+5", "5, 6", "0x5", "5.0", "five", "99999999999999999999999", "5 5"].map((length) => ({
    what: `the length ${length}`,
    send: upload({ "Content-Length": length }, "12345"),
    right: MALFORMED,
  })),
  {
    what: "no length and no body",
    send: upload({ "Content-Length": "" }, "12345"),
    right: MALFORMED,
  },
  {
    what: "two different lengths",
    send: withLine("Content-Length: 5\r\nContent-Length: 6", "POST", "123456"),
    right: MALFORMED,
  },
  {
    what: "a length over the limit",
    send: upload({ "Content-Length": `${MAX_PAYLOAD + 1}` }, "1"),
    right: [413],
  },
  {
    what: "a length of 9 petabytes",
    send: upload({ "Content-Length": `${Number.MAX_SAFE_INTEGER}` }, "1"),
    right: [413],
  },
  {
    what: "a truncated body",
    send: upload({ "Content-Length": "100" }, "12345"),
    right: MALFORMED,
    ends: true,
  },
  {
    what: "a truncated large body",
    send: upload({ "Content-Length": "400000" }, "x".repeat(300_000)),
    right: MALFORMED,
    ends: true,
  },
  {
    what: "a length and shorter chunks",
    send: upload({ "Content-Length": "9", "Transfer-Encoding": "chunked" }, "1\r\nx\r\n0\r\n\r\n"),
    right: MALFORMED,
  },
];

export const BAD_CHUNKS: readonly PeerCase[] = [
  ...["zz", "-1", "", "0x5", "5 x5", "fffffffffffffffff", "1".repeat(100)].map((size) => ({
    what: `the chunk size ${JSON.stringify(size.slice(0, 20))}`,
    send: chunked(`3\r\nabc\r\n${size}\r\n12345\r\n0\r\n\r\n`),
    right: MALFORMED,
  })),
  {
    what: "a chunk longer than its size",
    send: chunked("3\r\nabcdef\r\n0\r\n\r\n"),
    right: MALFORMED,
  },
  { what: "chunks without an end", send: chunked("3\r\nabc\r\n"), right: MALFORMED, ends: true },
  {
    what: "a truncated chunk",
    send: chunked(`fffff\r\n${"x".repeat(200_000)}`),
    right: MALFORMED,
    ends: true,
  },
  {
    what: "a chunk of 9 petabytes",
    send: chunked("1fffffffffffff\r\nabc\r\n"),
    right: [413, ...MALFORMED],
    ends: true,
  },
  {
    what: "chunks over the limit",
    send: chunked(`${"100000\r\n" + "x".repeat(2 ** 20)}\r\n`.repeat(10) + "1\r\nx\r\n0\r\n\r\n"),
    right: [413, 0],
  },
  {
    what: "an extension of 100 KB",
    send: chunked(`3;a=${"b".repeat(100_000)}\r\nabc\r\n0\r\n\r\n`),
    right: MALFORMED,
  },
  {
    what: "an unsupported coding",
    send: upload({ "Transfer-Encoding": "gzip" }, "12345"),
    right: [501, ...MALFORMED],
  },
  {
    what: "chunked before another coding",
    send: upload({ "Transfer-Encoding": "chunked, identity" }, "3\r\nabc\r\n0\r\n\r\n"),
    right: [501, ...MALFORMED],
  },
];

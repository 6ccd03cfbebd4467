import { assert, assertEquals } from "@std/assert";
import { TrustedProxies } from "../http/network/client_address.ts";
import { MAX_HEAD, parseRequestHead, parseResponseHead } from "../http1/message_head.ts";
import {
  clientInfoOf,
  isWebSocketRequest,
  peerOf,
  serializeRequestHead,
  serializeResponseHead,
} from "./forwarded_headers.ts";

const GATE_HEADERS = [
  "X-Request-Id: r1",
  "X-Forwarded-For: 192.0.2.1",
  "X-Forwarded-Proto: http",
  "X-Forwarded-Host: gate:8001",
];

/** Returns the headers after Host that reach the application. */
function forwarded(
  headers: string[],
  {
    keyName = undefined as string | undefined,
    isPreflight = false,
    prefix = "/p/a",
    method = "POST",
  } = {},
): string[] {
  const head = parseRequestHead(
    [`${method} /p/a/x HTTP/1.1`, "Host: gate:8001", ...headers].join("\r\n"),
  );
  const text = serializeRequestHead({
    head,
    target: "/x",
    prefix,
    authority: "127.0.0.1:3000",
    client: { address: "192.0.2.1", proto: "http", host: "gate:8001" },
    id: "r1",
    keyName,
    isPreflight,
    upgrades: isWebSocketRequest(head),
  });
  const [first, host, ...rest] = text.split("\r\n");
  assertEquals([first, host], [`${method} /x HTTP/1.1`, "Host: 127.0.0.1:3000"]);
  assertEquals(rest.splice(-2), ["", ""]);
  return rest;
}

const PATH_HEADERS = [...GATE_HEADERS, "X-Forwarded-Prefix: /p/a"];

Deno.test("A client's headers keep their order, spelling and repetition", () => {
  const headers = ["aCCept: */*", "X-A: 1", "x-a: 2", "Cookie: a=b", "Authorization: Bearer x"];
  assertEquals(forwarded(headers), [...headers, ...PATH_HEADERS]);
  assertEquals(forwarded(headers, { prefix: "" }), [...headers, ...GATE_HEADERS]);
});

/** Headers that applications trust. */
const TRUSTED = [
  "Proxy",
  "Proxy-Client-IP",
  "Proxy-User",
  "Remote-User",
  "Remote-Groups",
  "X-Remote-User",
  "True-Client-IP",
  "CF-Connecting-IP",
  "CF-Connecting-IPv6",
  "Fastly-Client-IP",
  "X-Client-IP",
  "Client-IP",
  "X-Cluster-Client-IP",
  "X-Original-URL",
  "X-Original-Host",
  "X-Rewrite-URL",
  "X-Forwarded-User",
  "X-Auth-Request-Email",
  "X-Authenticated-User",
  "X-WebAuth-User",
  "X-MS-Client-Principal",
  "Client-Cert",
  "X-Client-Cert",
  "X-SSL-Client-S-DN",
  "SSL-Client-Verify",
  "X-Scheme",
  "X-Url-Scheme",
  "Script-Name",
];

Deno.test("Hop-by-hop headers, credentials of the gate and trusted headers are dropped", () => {
  const dropped = [
    "X-Api-Key: secret",
    "x_api_key: secret",
    "Cookie: kvdrive_session=secret",
    "X-Forwarded-For: 1.2.3.4",
    "X-FORWARDED-Port: 1",
    "X_Forwarded_Host: evil",
    "x-forwarded_proto: https",
    "X-Auth-Key-Name: forged",
    "X_Auth_Key_Name: forged",
    "X-Auth-User: forged",
    "X.Forwarded.For: 1.2.3.4",
    "X_Auth_Key-Name: forged",
    "X-Forwarded: for=1.2.3.4",
    "Cookie: __Host-kvdrive_session=secret; kvdrive_session=x",
    ...TRUSTED.map((name) => `${name}: forged`),
    ...TRUSTED.map((name) => `${name.replaceAll("-", "_").toUpperCase()}: forged`),
    "Forwarded: for=1.2.3.4",
    "X-Real-IP: 1.2.3.4",
    "x_real_ip: 1.2.3.4",
    "Connection: keep-alive, X-Once",
    "X-Once: 1",
    "Keep-Alive: timeout=5",
    "Proxy-Connection: keep-alive",
    "Proxy-Authorization: Basic eDp5",
    "Proxy-Authenticate: Basic",
    "TE: trailers",
    "Trailer: X-B",
    "Upgrade: websocket",
    "Expect: 100-continue",
  ];
  assertEquals(forwarded(["X-A: 1", ...dropped, "X-Forward: 2"]), [
    "X-A: 1",
    "X-Forward: 2",
    ...PATH_HEADERS,
  ]);
});

Deno.test("Connection cannot remove the framing and headers of the gate", () => {
  const all = ["Connection: content-length, transfer-encoding, host, x-forwarded-for"];
  assertEquals(forwarded([...all, "Content-Length: 05"]), ["Content-Length: 5", ...PATH_HEADERS]);
  assertEquals(forwarded(["Content-Length: 0"]), ["Content-Length: 0", ...PATH_HEADERS]);
  const chunked = forwarded([...all, "Transfer-Encoding: CHUNKED"]);
  assertEquals(chunked, ["Transfer-Encoding: chunked", ...PATH_HEADERS]);
});

Deno.test("The application receives the name of the key", () => {
  const name = (keyName: string) => forwarded([], { keyName });
  assertEquals(name("my key"), [...PATH_HEADERS, "X-Auth-Key-Name: my key"]);
  assertEquals(name("a%b\u00e9\ud83d\ude00"), [
    ...PATH_HEADERS,
    "X-Auth-Key-Name: a%25b%C3%A9%F0%9F%98%80",
  ]);
  assertEquals(name(" a"), [...PATH_HEADERS, "X-Auth-Key-Name: %20a"]);
  assertEquals(forwarded([]), PATH_HEADERS);
});

Deno.test("Headers with names similar to dropped ones are kept", () => {
  const kept = [
    "X-Client-Version: 1",
    "X-Request: 1",
    "X-Request-Id-Source: 1",
    "X-Authors: 1",
    "Remote: 1",
    "Proxied: 1",
    "X-User: 1",
    "CF-Ray: 1",
    "Client-Version: 1",
    "my_header: 1",
  ];
  assertEquals(forwarded(kept), [...kept, ...PATH_HEADERS]);
});

Deno.test("The application receives the id of the request once", () => {
  for (const name of ["X-Request-Id", "x-request-ID", "X_Request_Id", "X.REQUEST-ID"]) {
    assertEquals(forwarded([`${name}: r1`]), PATH_HEADERS, name);
    assertEquals(forwarded([`${name}: r1`, `${name}: {other}`]), PATH_HEADERS, name);
  }
  assertEquals(forwarded(["Connection: X-Request-Id", "X-Request-Id: r1"]), PATH_HEADERS);
  const options = { isPreflight: true, method: "OPTIONS" };
  assertEquals(forwarded(["X-Request-Id: r1"], options), PATH_HEADERS);
});

Deno.test("A preflight without a key forwards only its CORS headers", () => {
  const question = [
    "Origin: https://page.example",
    "Access-Control-Request-Method: PUT",
    "access-control-request-headers: x-a",
    "Access-Control-Request-Private-Network: true",
  ];
  const rest = ["Cookie: a=b", "Authorization: Bearer x", "X-A: 1", "User-Agent: x", "Accept: */*"];
  assertEquals(forwarded([...rest, ...question], { isPreflight: true, method: "OPTIONS" }), [
    ...question,
    ...PATH_HEADERS,
  ]);
});

Deno.test("Only upgrades to WebSocket are forwarded", () => {
  const upgradeOf = (headers: string[], method = "GET") =>
    forwarded(headers, { method }).filter((line) => !PATH_HEADERS.includes(line));
  const upgraded = ["Connection: Upgrade", "Upgrade: websocket"];
  assertEquals(upgradeOf(["Connection: keep-alive, upgrade", "Upgrade: WebSocket"]), upgraded);
  assertEquals(upgradeOf(["Upgrade: websocket"]), []);
  assertEquals(upgradeOf(["Connection: Upgrade"]), []);
  const others = ["h2c", "H2C", "HTTP/2.0", "TLS/1.3", "websocket, h2c", "h2", "https", "irc/6.9"];
  const hidden = [
    "h2c;q=1",
    '"h2c"',
    '"websocket"',
    "websocket;q=1",
    "websocket/13",
    "h2c websocket",
    "",
  ];
  for (const protocol of [...others, ...hidden]) {
    assertEquals(upgradeOf(["Connection: Upgrade", `Upgrade: ${protocol}`]), [], protocol);
  }
  const twice = ["Connection: Upgrade", "Upgrade: websocket", "Upgrade: h2c"];
  assertEquals(upgradeOf(twice), []);
  assertEquals(upgradeOf(upgraded, "POST"), []);
  const withBody = [...upgraded, "Content-Length: 1"];
  assertEquals(upgradeOf(withBody), ["Content-Length: 1"]);
});

function response(...lines: string[]) {
  return parseResponseHead(["HTTP/1.1 200 Fine", ...lines].join("\r\n"));
}

const KEPT = [
  "Set-Cookie: a=b; Path=/x",
  "set-cookie: c=\xe9",
  "Location: http://127.0.0.1:3000/inner",
  "Content-Encoding: gzip",
  "Server: x",
];

/** A response whose body has a length. */
const PLAIN = { id: "r1", chunked: false, closes: false };

const ID = "X-Request-Id: r1";

Deno.test("An application's headers keep their order, spelling and repetition", () => {
  const text = serializeResponseHead(response(...KEPT, "Content-Length: 3"), PLAIN);
  const wanted = ["HTTP/1.1 200 Fine", ...KEPT, "Content-Length: 3", ID, "", ""];
  assertEquals(text, wanted.join("\r\n"));
});

Deno.test("A response has the id of the request, unless the application set one", () => {
  const idsOf = (text: string) => text.split("\r\n").filter((line) => /^x-request-id:/i.test(line));
  const upgrade = (...lines: string[]) =>
    parseResponseHead(["HTTP/1.1 101 Go", "Upgrade: websocket", ...lines].join("\r\n"));
  const cases: { sent: string[]; wanted: string[] }[] = [
    { sent: [], wanted: [ID] },
    { sent: ["X-Request-Ids: a", "Request-Id: b"], wanted: [ID] },
    { sent: ["x-request-ID: own 1"], wanted: ["x-request-ID: own 1"] },
    {
      sent: ["X-Request-Id: a", "X-Request-Id: b"],
      wanted: ["X-Request-Id: a", "X-Request-Id: b"],
    },
  ];
  for (const { sent, wanted } of cases) {
    assertEquals(idsOf(serializeResponseHead(response(...sent), PLAIN)), wanted);
    assertEquals(idsOf(serializeResponseHead(upgrade(...sent), PLAIN)), wanted);
  }
  const dropped = response("X-Request-Id: own", "Connection: X-Request-Id");
  assertEquals(idsOf(serializeResponseHead(dropped, PLAIN)), [ID]);
});

Deno.test("Hop-by-hop headers of a response are dropped", () => {
  const lines = [
    "Connection: close, X-Once",
    "X-Once: 1",
    "Keep-Alive: timeout=5",
    "Transfer-Encoding: chunked",
    "Trailer: X-A",
    "Upgrade: h2c",
    "X-A: 1",
  ];
  const text = serializeResponseHead(response(...lines), { ...PLAIN, chunked: true, closes: true });
  const wanted = ["X-A: 1", ID, "Transfer-Encoding: chunked", "Connection: close", "", ""];
  assertEquals(text, ["HTTP/1.1 200 Fine", ...wanted].join("\r\n"));
});

Deno.test("Content-Length is sent once, and not without a body", () => {
  const twice = response("Content-Length: 3", "content-length: 3");
  assertEquals(
    serializeResponseHead(twice, PLAIN),
    `HTTP/1.1 200 Fine\r\nContent-Length: 3\r\n${ID}\r\n\r\n`,
  );
  const none = parseResponseHead("HTTP/1.1 204 \r\nContent-Length: 3");
  assertEquals(
    serializeResponseHead(none, PLAIN),
    `HTTP/1.1 204 \r\n${ID}\r\n\r\n`,
  );
});

Deno.test("Applications cannot set session cookies or widen service workers", () => {
  const lines = [
    "Set-Cookie: kvdrive_session=x; Path=/",
    "SET-COOKIE: kvdrive_session =x",
    "Set-Cookie:   __Host-kvdrive_session=x; Secure; Path=/",
    "Set-Cookie: __HOST-Kvdrive_Session=x",
    "Set-Cookie: __Host-Http-kvdrive_session=x",
    "Set-Cookie: __Secure-kvdrive_session=x",
    "Set-Cookie: =kvdrive_session=x",
    "Set-Cookie: = kvdrive_session=x",
    "Set-Cookie: \t=\tkvdrive_session\t=x",
    "Set-Cookie: kvdrive_session",
    "Set-Cookie: kvdrive_session;",
    "Service-Worker-Allowed: /",
    "service-worker-allowed: /",
  ];
  const kept = [
    "Set-Cookie: kvdrive_sessions=x",
    "Set-Cookie: my_kvdrive_session=x",
    "Set-Cookie: a=kvdrive_session=x",
    "Set-Cookie: a=b; kvdrive_session=x",
    "Service-Worker: script",
  ];
  const text = serializeResponseHead(response(...lines, ...kept), PLAIN);
  assertEquals(text, ["HTTP/1.1 200 Fine", ...kept, ID, "", ""].join("\r\n"));
});

Deno.test("A WebSocket handshake keeps its own headers", () => {
  const head = parseResponseHead(
    "HTTP/1.1 101 Go\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n" +
      "Set-Cookie: kvdrive_session=x\r\nSet-Cookie: a=b",
  );
  const kept = ["Sec-WebSocket-Accept: x", "Set-Cookie: a=b", ID];
  const wanted = ["HTTP/1.1 101 Go", ...kept, "Connection: Upgrade", "Upgrade: websocket", "", ""];
  assertEquals(serializeResponseHead(head, PLAIN), wanted.join("\r\n"));
});

Deno.test("Only a trusted proxy can name the client, the scheme and the host", () => {
  const headers = [
    { name: "X-Forwarded-For", lower: "x-forwarded-for", value: "192.0.2.7" },
    { name: "X-Forwarded-Proto", lower: "x-forwarded-proto", value: "https" },
    { name: "X-Forwarded-Host", lower: "x-forwarded-host", value: "other.example" },
  ];
  const head = { headers, host: "gate.example" };
  const clientFrom = (hostname: string) => {
    const peer = peerOf({ transport: "tcp", hostname, port: 1 }, false);
    return clientInfoOf(head, peer, TrustedProxies.parse("10.0.0.0/8, fd00::/8"));
  };
  assertEquals(clientFrom("10.0.0.1"), {
    address: "192.0.2.7",
    proto: "https",
    host: "other.example",
  });
  for (const proxy of ["::ffff:10.0.0.1", "fd00::1"]) {
    assertEquals(clientFrom(proxy).address, "192.0.2.7", proxy);
  }
  assertEquals(clientFrom("203.0.113.1"), {
    address: "203.0.113.1",
    proto: "http",
    host: "gate.example",
  });
  assertEquals(clientFrom("2001:db8::1").address, "2001:db8:0:0:0:0:0:1");
});

/** Returns the shortest of many runs, in milliseconds: some of them are not interrupted on a busy machine. */
function shortestTime(run: () => void): number {
  const times = Array.from({ length: 30 }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  return Math.min(...times);
}

Deno.test("The options in the header Connection of the largest head cost no more than their bytes", () => {
  const half = MAX_HEAD / 2 - 100;
  const options = [`Connection: ${"ab,".repeat(half / 3)}`];
  const headers = Array.from({ length: half / 4 }, () => "a:");
  const timeOf = (...lines: string[][]) => {
    const text = ["HTTP/1.1 200 OK", ...lines.flat()].join("\r\n");
    return shortestTime(() => {
      const parsed = parseResponseHead(text);
      serializeResponseHead(parsed, { id: "r1", chunked: false, closes: false });
    });
  };
  const [both, sum] = [timeOf(options, headers), timeOf(options) + timeOf(headers)];
  // With a search of all options for each header it was eleven times the sum.
  assert(both < 5 * sum, `${both} ms, ${sum} ms`);
});

import { assertEquals } from "@std/assert";
import { parseRequestHead, parseResponseHead } from "../http1/message_head.ts";
import {
  type AccessDecision,
  isWebSocketRequest,
  serializeRequestHead,
  serializeResponseHead,
  serializeUpgrade,
} from "./forwarded_headers.ts";

const SET = [
  "X-Forwarded-For: 192.0.2.1",
  "X-Forwarded-Proto: http",
  "X-Forwarded-Host: gate:8001",
];

/** The lines behind the first two. */
function passed(
  headers: string[],
  {
    judgement = { allowed: true, caller: "anyone" } as AccessDecision,
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
    origin: { address: "192.0.2.1", proto: "http", host: "gate:8001" },
    judgement,
    upgrades: isWebSocketRequest(head),
  });
  const [first, host, ...rest] = text.split("\r\n");
  assertEquals([first, host], [`${method} /x HTTP/1.1`, "Host: 127.0.0.1:3000"]);
  assertEquals(rest.splice(-2), ["", ""]);
  return rest;
}

const PATH_SET = [...SET, "X-Forwarded-Prefix: /p/a"];

Deno.test("The caller's headers go on in their order, spelling and number", () => {
  const headers = ["aCCept: */*", "X-A: 1", "x-a: 2", "Cookie: a=b", "Authorization: Bearer x"];
  assertEquals(passed(headers), [...headers, ...PATH_SET]);
  assertEquals(passed(headers, { prefix: "" }), [...headers, ...SET]);
});

/** What applications believe of those who stand before them. */
const BELIEVED = [
  "Proxy",
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

Deno.test("What is the gate's own or of one connection alone stays behind", () => {
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
    ...BELIEVED.map((name) => `${name}: forged`),
    ...BELIEVED.map((name) => `${name.replaceAll("-", "_").toUpperCase()}: forged`),
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
  assertEquals(passed(["X-A: 1", ...dropped, "X-Forward: 2"]), [
    "X-A: 1",
    "X-Forward: 2",
    ...PATH_SET,
  ]);
});

Deno.test("The framing is written anew, whatever Connection names", () => {
  const all = ["Connection: content-length, transfer-encoding, host, x-forwarded-for"];
  assertEquals(passed([...all, "Content-Length: 05"]), ["Content-Length: 5", ...PATH_SET]);
  assertEquals(passed(["Content-Length: 0"]), ["Content-Length: 0", ...PATH_SET]);
  const chunked = passed([...all, "Transfer-Encoding: CHUNKED"]);
  assertEquals(chunked, ["Transfer-Encoding: chunked", ...PATH_SET]);
});

Deno.test("The application is told which key called", () => {
  const name = (keyName: string) =>
    passed([], { judgement: { allowed: true, caller: "key", keyName } });
  assertEquals(name("my key"), [...PATH_SET, "X-Auth-Key-Name: my key"]);
  assertEquals(name("a%b\u00e9\ud83d\ude00"), [
    ...PATH_SET,
    "X-Auth-Key-Name: a%25b%C3%A9%F0%9F%98%80",
  ]);
  assertEquals(name(" a"), [...PATH_SET, "X-Auth-Key-Name: %20a"]);
  for (const caller of ["owner", "session", "preflight"] as const) {
    assertEquals(passed([], { judgement: { allowed: true, caller } }), PATH_SET);
  }
});

Deno.test("What only looks like what the gate drops goes on", () => {
  const kept = [
    "X-Client-Version: 1",
    "X-Request-Id: 1",
    "X-Authors: 1",
    "Remote: 1",
    "Proxied: 1",
    "X-User: 1",
    "CF-Ray: 1",
    "Client-Version: 1",
    "my_header: 1",
  ];
  assertEquals(passed(kept), [...kept, ...PATH_SET]);
});

Deno.test("A preflight without a key carries nothing but its question", () => {
  const question = [
    "Origin: https://page.example",
    "Access-Control-Request-Method: PUT",
    "access-control-request-headers: x-a",
    "Access-Control-Request-Private-Network: true",
  ];
  const rest = ["Cookie: a=b", "Authorization: Bearer x", "X-A: 1", "User-Agent: x", "Accept: */*"];
  const judgement: AccessDecision = { allowed: true, caller: "preflight" };
  assertEquals(passed([...rest, ...question], { judgement, method: "OPTIONS" }), [
    ...question,
    ...PATH_SET,
  ]);
});

Deno.test("An upgrade to WebSocket goes on, and none to anything else", () => {
  const asked = (headers: string[], method = "GET") =>
    passed(headers, { method }).filter((line) => !PATH_SET.includes(line));
  const upgraded = ["Connection: Upgrade", "Upgrade: websocket"];
  assertEquals(asked(["Connection: keep-alive, upgrade", "Upgrade: WebSocket"]), upgraded);
  assertEquals(asked(["Upgrade: websocket"]), []);
  assertEquals(asked(["Connection: Upgrade"]), []);
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
    assertEquals(asked(["Connection: Upgrade", `Upgrade: ${protocol}`]), [], protocol);
  }
  const twice = ["Connection: Upgrade", "Upgrade: websocket", "Upgrade: h2c"];
  assertEquals(asked(twice), []);
  assertEquals(asked(upgraded, "POST"), []);
  const withBody = [...upgraded, "Content-Length: 1"];
  assertEquals(asked(withBody), ["Content-Length: 1"]);
});

function answer(...lines: string[]) {
  return parseResponseHead(["HTTP/1.1 200 Fine", ...lines].join("\r\n"));
}

const KEPT = [
  "Set-Cookie: a=b; Path=/x",
  "set-cookie: c=\xe9",
  "Location: http://127.0.0.1:3000/inner",
  "Content-Encoding: gzip",
  "Server: x",
];

Deno.test("The application's headers go on in their order, spelling and number", () => {
  const text = serializeResponseHead(answer(...KEPT, "Content-Length: 3"), {
    chunked: false,
    closes: false,
  });
  assertEquals(text, ["HTTP/1.1 200 Fine", ...KEPT, "Content-Length: 3", "", ""].join("\r\n"));
});

Deno.test("What is of one connection alone stays behind", () => {
  const lines = [
    "Connection: close, X-Once",
    "X-Once: 1",
    "Keep-Alive: timeout=5",
    "Transfer-Encoding: chunked",
    "Trailer: X-A",
    "Upgrade: h2c",
    "X-A: 1",
  ];
  const text = serializeResponseHead(answer(...lines), { chunked: true, closes: true });
  const wanted = ["X-A: 1", "Transfer-Encoding: chunked", "Connection: close", "", ""];
  assertEquals(text, ["HTTP/1.1 200 Fine", ...wanted].join("\r\n"));
});

Deno.test("A length is told once, and not where there is no body", () => {
  const twice = answer("Content-Length: 3", "content-length: 3");
  assertEquals(
    serializeResponseHead(twice, { chunked: false, closes: false }),
    "HTTP/1.1 200 Fine\r\nContent-Length: 3\r\n\r\n",
  );
  const none = parseResponseHead("HTTP/1.1 204 \r\nContent-Length: 3");
  assertEquals(
    serializeResponseHead(none, { chunked: false, closes: false }),
    "HTTP/1.1 204 \r\n\r\n",
  );
});

Deno.test("No application sets the gate's cookie, nor widens its service worker", () => {
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
  const text = serializeResponseHead(answer(...lines, ...kept), { chunked: false, closes: false });
  assertEquals(text, ["HTTP/1.1 200 Fine", ...kept, "", ""].join("\r\n"));
});

Deno.test("An upgrade keeps what it is about", () => {
  const head = parseResponseHead(
    "HTTP/1.1 101 Go\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n" +
      "Set-Cookie: kvdrive_session=x\r\nSet-Cookie: a=b",
  );
  const wanted =
    "Sec-WebSocket-Accept: x\r\nSet-Cookie: a=b\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  assertEquals(serializeUpgrade(head), `HTTP/1.1 101 Go\r\n${wanted}`);
});

import { assertEquals } from "@std/assert";
import { parseResponseHead } from "../http1/response_head.ts";
import { responseText, upgradeText } from "./response_text.ts";

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
  const text = responseText(answer(...KEPT, "Content-Length: 3"), {
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
  const text = responseText(answer(...lines), { chunked: true, closes: true });
  const wanted = ["X-A: 1", "Transfer-Encoding: chunked", "Connection: close", "", ""];
  assertEquals(text, ["HTTP/1.1 200 Fine", ...wanted].join("\r\n"));
});

Deno.test("A length is told once, and not where there is no body", () => {
  const twice = answer("Content-Length: 3", "content-length: 3");
  assertEquals(
    responseText(twice, { chunked: false, closes: false }),
    "HTTP/1.1 200 Fine\r\nContent-Length: 3\r\n\r\n",
  );
  const none = parseResponseHead("HTTP/1.1 204 \r\nContent-Length: 3");
  assertEquals(responseText(none, { chunked: false, closes: false }), "HTTP/1.1 204 \r\n\r\n");
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
  const text = responseText(answer(...lines, ...kept), { chunked: false, closes: false });
  assertEquals(text, ["HTTP/1.1 200 Fine", ...kept, "", ""].join("\r\n"));
});

Deno.test("An upgrade keeps what it is about", () => {
  const head = parseResponseHead(
    "HTTP/1.1 101 Go\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n" +
      "Set-Cookie: kvdrive_session=x\r\nSet-Cookie: a=b",
  );
  const wanted =
    "Sec-WebSocket-Accept: x\r\nSet-Cookie: a=b\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  assertEquals(upgradeText(head), `HTTP/1.1 101 Go\r\n${wanted}`);
});

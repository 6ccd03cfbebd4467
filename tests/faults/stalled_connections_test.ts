import { assert } from "@std/assert";
import { delay } from "@std/async/delay";
import { Gate } from "../support/gate/gate.ts";
import { answerEach, RawUpstream } from "../support/gate/upstream_raw.ts";
import { sendRaw } from "../support/raw.ts";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { TlsFiles } from "../support/tls.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const LIST =
  `GET /v1/${PROJECT_ID}/drive/files HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${PROJECT_KEY}\r\n\r\n`;

Deno.test("Stalled connections are closed in time.", async (t) => {
  await using files = await TlsFiles.make();
  await using server = await TestServer.start();
  await using secure = await TestServer.start({ args: files.args });
  await using upstream = new RawUpstream(answerEach(OK));
  await using gate = await Gate.start();
  const key = await gate.protect(upstream.origin);
  const form = `POST ${gate.prefix()}/.kvdrive/sign-in HTTP/1.1\r\nHost: localhost\r\n` +
    "Sec-Fetch-Site: same-origin\r\n" +
    "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nkey=";
  const cases: { what: string; port: number; send: string; trickle?: number; time: number }[] = [
    { what: "nothing sent", port: server.port, send: "", time: 60 },
    { what: "nothing after an answer", port: server.port, send: LIST, time: 60 },
    { what: "half a head", port: server.port, send: LIST.slice(0, 30), time: 30 },
    { what: "a byte every 5 s", port: server.port, send: "GET", trickle: 5, time: 30 },
    { what: "no handshake", port: secure.port, send: "", time: 30 },
    { what: "half a handshake", port: secure.port, send: "\x16\x03\x01\x02\0\x01", time: 30 },
    { what: "nothing sent to the gate", port: gate.port, send: "", time: 60 },
    { what: "half a head at the gate", port: gate.port, send: "GET / HT", time: 30 },
    { what: "a slow head at the gate", port: gate.port, send: "GET", trickle: 5, time: 30 },
    { what: "a slow sign-in", port: gate.port, send: form, trickle: 2, time: 10 },
  ];
  const steps = cases.map(({ what, port, send, trickle, time }) =>
    t.step({
      name: `${what}: ${time} s`,
      sanitizeOps: false,
      sanitizeResources: false,
      sanitizeExit: false,
      async fn() {
        const seconds = await lifetime(port, send, trickle);
        assert(seconds >= time - 1 && seconds < time + 15, `Closed after ${seconds} s`);
      },
    })
  );
  await Promise.all(steps);
  await gate.get("/", { "X-Api-Key": key }).then((answer) => answer.expect(200));
  (await sendRaw(server.port, LIST)).expect(200);
});

/** Returns the seconds until the server closes a connection that sends a text, then a byte every `trickle` seconds. */
async function lifetime(port: number, send: string, trickle?: number): Promise<number> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const began = performance.now();
  await connection.write(latin1(send));
  const over = new AbortController();
  const ended = untilEnd(connection).finally(() => over.abort());
  while (trickle !== undefined && !over.signal.aborted) {
    await delay(trickle * 1000, over).catch(() => {});
    if (!over.signal.aborted) await connection.write(latin1("a")).catch(() => {});
  }
  await ended;
  return (performance.now() - began) / 1000;
}

async function untilEnd(connection: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(65_536);
  try {
    while (await connection.read(buffer) !== null);
  } catch (error) {
    if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
  }
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

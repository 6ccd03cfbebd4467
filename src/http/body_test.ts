import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { delay } from "@std/async/delay";
import {
  announcedSize,
  assertDigest,
  type BodyLimits,
  expectedDigest,
  formatDigest,
  hasBody,
  readBody,
} from "./body.ts";
import { HttpError } from "./http_error.ts";

/** An idle time that no test reaches. */
const IDLE = 60_000;

/** A body whose pieces a test controls, and that records how it was cancelled. */
class TestBody {
  pulls = 0;
  readonly cancelled: Promise<unknown>;
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;

  /** @param next Called for each pull; without it, no bytes ever arrive. */
  constructor(
    next: (controller: ReadableStreamDefaultController, pull: number) => void = () => {},
  ) {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.cancelled = promise;
    this.stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => next(controller, ++this.pulls),
      cancel: (reason) => resolve(reason ?? "cancelled"),
    }, { highWaterMark: 0 });
  }

  request(headers: Record<string, string> = {}): Request {
    return new Request("http://kv.example/", { method: "POST", body: this.stream, headers });
  }
}

function piecesOf(...sizes: number[]): TestBody {
  return new TestBody((controller, pull) => {
    const size = sizes[pull - 1];
    if (size === undefined) controller.close();
    else controller.enqueue(new Uint8Array(size).fill(pull));
  });
}

async function collect(request: Request, limits: BodyLimits): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readBody(request, limits)) pieces.push(piece);
  return pieces;
}

async function refusal(request: Request, limits: BodyLimits): Promise<HttpError> {
  return await assertRejects(() => collect(request, limits), HttpError);
}

Deno.test("a body is read piece by piece, up to the limit", async () => {
  const request = piecesOf(3, 0, 5, 2).request({ "content-length": "10" });
  const pieces = await collect(request, { limit: 10, idle: IDLE });
  assertEquals(pieces, [
    new Uint8Array(3).fill(1),
    new Uint8Array(0),
    new Uint8Array(5).fill(3),
    new Uint8Array(2).fill(4),
  ]);
});

Deno.test("a missing body and an empty one have no pieces", async () => {
  const limits = { limit: 0, idle: IDLE };
  assertEquals(await collect(new Request("http://kv.example/"), limits), []);
  assertEquals(await collect(piecesOf().request(), limits), []);
  assertEquals(await collect(piecesOf().request({ "content-length": "0" }), limits), []);
});

Deno.test("a body that is announced too large is refused before a byte is read", async () => {
  const body = piecesOf(11);
  const request = body.request({ "content-length": "11" });
  assertEquals((await refusal(request, { limit: 10, idle: IDLE })).status, 413);
  assertEquals(body.pulls, 0);
  await body.stream.cancel().catch(() => {});
});

Deno.test("a body that exceeds the limit is refused and not read further", async () => {
  const body = piecesOf(5, 6, 1000, 1000);
  const error = await refusal(body.request(), { limit: 10, idle: IDLE });
  assertEquals(error.status, 413);
  assert(error.message.includes("10 bytes"), error.message);
  await body.cancelled;
  assertEquals(body.pulls, 2);
});

Deno.test("a silent sender gets 408 and its body is cancelled", async () => {
  const silences: TestBody[] = [
    new TestBody(),
    new TestBody((controller, pull) => {
      if (pull === 1) controller.enqueue(new Uint8Array(1));
    }),
  ];
  for (const body of silences) {
    const error = await refusal(body.request(), { limit: 10, idle: 5 });
    assertEquals(error.status, 408);
    assertEquals(error.headers["Connection"], "close");
    await body.cancelled;
  }
});

Deno.test("the idle time restarts with each piece and does not run while the reader is busy", async () => {
  const request = piecesOf(1, 1, 1).request();
  const idle = 5;
  let count = 0;
  for await (const _ of readBody(request, { limit: 10, idle })) {
    count++;
    await delay(3 * idle);
  }
  assertEquals(count, 3);
});

Deno.test("a sender that disconnects is 400, and the cause is only for the log", async () => {
  const cause = new TypeError("the inside of the runtime");
  const body = new TestBody((controller, pull) => {
    if (pull === 1) controller.enqueue(new Uint8Array(4));
    else controller.error(cause);
  });
  const error = await refusal(body.request(), { limit: 10, idle: IDLE });
  assertEquals(error.status, 400);
  assertEquals(error.cause, cause);
  assert(!error.message.includes("inside"), error.message);
});

Deno.test("a body shorter or longer than announced is incomplete", async () => {
  for (const announced of ["9", "11"]) {
    const request = piecesOf(5, 5).request({ "content-length": announced });
    assertEquals((await refusal(request, { limit: 20, idle: IDLE })).status, 400);
  }
});

Deno.test("a reader that stops early cancels the body", async () => {
  const body = piecesOf(1, 1, 1);
  for await (const _ of readBody(body.request(), { limit: 10, idle: IDLE })) break;
  await body.cancelled;
  assertEquals(body.pulls, 1);
});

Deno.test("the announced size is Content-Length", () => {
  const of = (text: string) => announcedSize(new Headers({ "content-length": text }), 100);
  assertEquals(announcedSize(new Headers(), 100), undefined);
  assertEquals([of("0"), of("100")], [0, 100]);
  for (const text of ["101", "99999999999999999999"]) {
    assertEquals(assertThrows(() => of(text), HttpError).status, 413);
  }
});

/** A body of single bytes, each some milliseconds after the reader wants it. */
function trickling(count: number, pause: number): TestBody {
  let sent = 0;
  return new TestBody(async (controller) => {
    await delay(pause);
    if (sent++ < count) controller.enqueue(new Uint8Array(1));
    else controller.close();
  });
}

Deno.test("a body that trickles is refused, although bytes keep coming", async () => {
  for (const pace of [{ grace: 60, rate: 1000 }, { grace: 60 }]) {
    const body = trickling(1000, 10);
    const error = await refusal(body.request(), { limit: 1e6, idle: IDLE, pace });
    assertEquals([error.status, error.headers["Connection"]], [408, "close"]);
    assertEquals(error.message, "The body came too slowly: nothing was stored, send it again");
    await body.cancelled;
  }
});

Deno.test("a fast start does not let a body stop for longer than the grace", async () => {
  const body = new TestBody((controller, pull) => {
    if (pull === 1) controller.enqueue(new Uint8Array(1000));
  });
  const pace = { grace: 60, rate: 1 };
  const error = await refusal(body.request(), { limit: 1e6, idle: 5000, pace });
  assertEquals(error.message, "The body came too slowly: nothing was stored, send it again");
});

Deno.test("a body that is fast enough may take any time", async () => {
  const body = trickling(30, 10);
  const pace = { grace: 2000, rate: 1 };
  const pieces = await collect(body.request(), { limit: 1e6, idle: IDLE, pace });
  assertEquals(pieces.length, 30);
});

Deno.test("the time in which the reader is busy does not count as slowness of the sender", async () => {
  let count = 0;
  const pace = { grace: 100 };
  for await (const _ of readBody(piecesOf(1, 1, 1).request(), { limit: 10, idle: IDLE, pace })) {
    count++;
    await delay(2 * pace.grace);
  }
  assertEquals(count, 3);
});

Deno.test("a process that was busy checks for arrived bytes before it gives up", async () => {
  const body = new TestBody((controller, pull) => {
    if (pull > 1) return controller.close();
    setTimeout(() => controller.enqueue(new Uint8Array(1)), 20);
    // Blocks this process for longer than the idle time.
    const until = performance.now() + 500;
    setTimeout(() => {
      while (performance.now() < until);
    }, 1);
  });
  const pieces = await collect(body.request(), { limit: 10, idle: 10 });
  assertEquals(pieces.length, 1);
});

/** The SHA-256 of an empty body, and of "abc". */
const EMPTY = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
const ABC = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";

function read(header: string): string | undefined {
  return expectedDigest(new Headers({ "content-digest": header }));
}

Deno.test("the SHA-256 is read from the header, even among other algorithms", () => {
  const cases = [
    [`sha-256=:${EMPTY}:`, EMPTY],
    [`  sha-256=:${ABC}:  `, ABC],
    [`sha-512=:AAAA:, sha-256=:${ABC}:`, ABC],
    [`sha-256=:${ABC}:,md5=:AAAA:`, ABC],
    [`sha-256=:${EMPTY}:, sha-256=:${ABC}:`, ABC],
    [`sha-256=:${ABC.slice(0, -1)}:`, ABC],
    [`sha-256=:${ABC}:; a="b";c`, ABC],
    ["sha-512=:AAAA:", undefined],
    ["md5=:AAAA==:, unixsum=::", undefined],
    ["sha-2560=:AAAA:", undefined],
  ] as const;
  for (const [header, digest] of cases) assertEquals(read(header), digest, header);
  assertEquals(expectedDigest(new Headers()), undefined);
});

Deno.test("a malformed digest header is 400", () => {
  const headers = [
    "",
    ",",
    "sha-256",
    "sha-256=",
    "sha-256=::",
    `sha-256=${ABC}`,
    `sha-256="${ABC}"`,
    `sha-256 = :${ABC}:`,
    `sha-256=:${ABC}`,
    `sha-256=:${ABC.slice(0, -2)}:`,
    `sha-256=:${ABC.slice(1)}:`,
    `sha-256=:${ABC}=:`,
    `sha-256=:${ABC}:a=1`,
    `sha-256=:A${ABC}:`,
    `sha-256=:${"_".repeat(43)}=:`,
    `sha-256=: ${ABC}:`,
    `sha-256=:${ABC}:,`,
    `sha-256=:${ABC}:, nonsense`,
    `SHA-256=:${ABC}:`,
    "sha-512=AAAA",
    "=:AAAA:",
  ];
  for (const header of headers) {
    const error = assertThrows(() => read(header), HttpError, "The Content-Digest header must be");
    assertEquals(error.status, 400, header);
  }
});

Deno.test("a body must have the digest that was sent, if any", () => {
  assertDigest(undefined, ABC);
  assertDigest(ABC, ABC);
  for (const other of [EMPTY, ABC.toLowerCase(), ""]) {
    const error = assertThrows(() => assertDigest(ABC, other), HttpError, "SHA-256");
    assertEquals(error.status, 400);
  }
});

Deno.test("a formatted digest can be parsed", () => {
  assertEquals(formatDigest(ABC), `sha-256=:${ABC}:`);
  assertEquals(read(formatDigest(EMPTY)), EMPTY);
});

/** A request of which pieces have arrived, as the server of `http1/` passes it on. */
function received(
  pieces: (Uint8Array | Promise<Uint8Array>)[],
): { request: Request; log: string[] } {
  const log: string[] = [];
  const own = {
    next: () => {
      const next = pieces.shift();
      if (next instanceof Uint8Array && next.length === 0) throw new TypeError("malformed");
      return next;
    },
    cancel: () => Promise.resolve(void log.push("cancelled")),
  };
  const request = new Request("http://kv.example/", { method: "POST" });
  return { request: Object.assign(request, { pieces: own }), log };
}

Deno.test("pieces that have arrived are read without a stream, and late ones with the same limits", async () => {
  const limits = { limit: 10, idle: 5 };
  const both = received([Uint8Array.of(1), Promise.resolve(Uint8Array.of(2)), Uint8Array.of(3)]);
  assert(hasBody(both.request));
  const expected = [[1], [2], [3]].map((bytes) => Uint8Array.from(bytes));
  assertEquals([await collect(both.request, limits), both.log], [expected, []]);
  const silent = received([Uint8Array.of(1), new Promise(() => {})]);
  assertEquals((await refusal(silent.request, limits)).status, 408);
  const large = received([new Uint8Array(11)]);
  assertEquals((await refusal(large.request, limits)).status, 413);
  const malformed = received([Uint8Array.of(1), new Uint8Array(0)]);
  assertEquals((await refusal(malformed.request, limits)).status, 400);
  assertEquals([silent.log, large.log, malformed.log].flat(), Array(3).fill("cancelled"));
  const none = Object.assign(new Request("http://kv.example/"), { pieces: undefined });
  assertEquals([hasBody(none), await collect(none, limits)], [false, []]);
});

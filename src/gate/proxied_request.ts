import type { RequestContext } from "../http/request_context.ts";
import { type BodyReader, bodyReader, NO_BODY, responseFraming } from "../http1/body.ts";
import { type Connection, ConnectionLost } from "../http1/connection.ts";
import { MalformedMessage } from "../http1/headers.ts";
import {
  parseResponseHead,
  readHead,
  type RequestHead,
  type ResponseHead,
} from "../http1/message_head.ts";
import { SECOND } from "../rules/units.ts";
import {
  type AuthorizedRequest,
  isStillAuthorized,
  REAUTHORIZE_INTERVAL,
} from "./authorization.ts";
import type { GateContext } from "./context.ts";
import {
  isWebSocketRequest,
  serializeRequestHead,
  serializeResponseHead,
  serializeUpgrade,
  upgradesToWebSocket,
} from "./forwarded_headers.ts";
import type { GateConnection } from "./gate_connection.ts";
import { UPSTREAM_FRESH_TIME } from "./upstreams.ts";

/** How long a connection to an application may take, and the beginning of its answer, unless configured. */
const CONNECT_TIMEOUT = 10 * SECOND;

/** Interim answers (1xx) of an application to one request. */
const MAX_INTERIM_RESPONSES = 16;

/** How long the second direction of an upgraded connection lasts when the first has ended. */
const HALF_CLOSE_TIME = 10 * SECOND;

/**
 * Passes bytes both ways, whatever they mean, until both sides have ended.
 *
 * @param visit Gets how many bytes went which way.
 * @param onHalf Called when the first of them has.
 * @throws {ConnectionLost} as soon as one of them breaks.
 */
async function tunnel(
  caller: GateConnection,
  upstream: Connection,
  visit: RequestContext,
  onHalf: () => void,
): Promise<void> {
  const ways = [
    pump(caller.wire, async (piece) => {
      await upstream.write(piece);
      visit.received += piece.length;
    }).then(() => upstream.closeWrite()),
    pump(upstream, async (piece) => {
      await caller.write(piece);
      visit.sent += piece.length;
    }).then(() => caller.wire.closeWrite()),
  ];
  await Promise.race(ways).finally(onHalf);
  await Promise.all(ways);
}

/** Reads one side to its end and hands every piece on before the next is read. */
async function pump(from: Connection, pass: (piece: Uint8Array) => Promise<void>): Promise<void> {
  const { reader } = from;
  reader.widen();
  do {
    const piece = reader.take(Infinity);
    if (piece.length > 0) await pass(piece);
  } while (await reader.fill());
  if (reader.isBroken) throw new ConnectionLost("The connection broke");
}

/** Why an exchange was broken off. */
export type AbortReason =
  | "caller left"
  | "caller silent"
  | "body malformed"
  | "upstream slow"
  | "cut";

/** "A request … of methods that are idempotent" may be sent again where the first connection broke (RFC 9110, 9.2.2). */
const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

const NOTHING = new Uint8Array(0);
const CONTINUE = new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n");

/** One request that was let in, on its way to the application, and its answer on the way back. */
export class ProxiedRequest {
  /** Why it was broken off, if it was. */
  aborted: AbortReason | undefined;
  /** What was wrong with the request's body. */
  malformed: MalformedMessage | undefined;
  /** Whether the caller has got the beginning of an answer. */
  isAnswered = false;
  readonly #ctx: GateContext;
  readonly #caller: GateConnection;
  readonly #head: RequestHead;
  readonly #admitted: AuthorizedRequest;
  readonly #body: BodyReader;
  readonly #visit: RequestContext;
  readonly #began: number;
  readonly #connecting = new AbortController();
  #upstream: Connection | undefined;
  /** Whether the head of the answer has come. */
  #hasAnswer = false;
  /** When the application has to have gone on. */
  #answerBy = Infinity;
  #isUpgraded = false;
  #isOver = false;
  /** Whether the whole request has left. */
  #isSent = false;
  #sending: Promise<void> = Promise.resolve();
  #isJudging = false;

  constructor(
    ctx: GateContext,
    caller: GateConnection,
    request: {
      head: RequestHead;
      body: BodyReader;
      admitted: AuthorizedRequest;
      visit: RequestContext;
    },
  ) {
    this.#ctx = ctx;
    this.#caller = caller;
    this.#head = request.head;
    this.#body = request.body;
    this.#admitted = request.admitted;
    this.#visit = request.visit;
    this.#began = ctx.clock.now;
  }

  get isUpgraded(): boolean {
    return this.#isUpgraded;
  }

  /**
   * Passes the request and its answer on; gives whether the caller's connection can be used again.
   *
   * @throws what kept it from being answered. Where `isAnswered`, there is nothing left to say but the end.
   */
  async run(): Promise<boolean> {
    const upgrades = isWebSocketRequest(this.#head);
    try {
      const answer = await this.#ask(upgrades);
      this.#visit.status = answer.status;
      this.#visit.isForwarded = true;
      if (answer.status !== 101) return await this.#relay(answer);
      if (!upgrades) throw new MalformedMessage("it changes the protocol unasked");
      if (!upgradesToWebSocket(answer.fields)) {
        throw new MalformedMessage("it changes to another protocol");
      }
      await this.#tunnel(answer);
      return false;
    } finally {
      this.#isOver = true;
      if (this.aborted === "caller left" || this.aborted === "cut") this.#visit.isAborted = true;
      this.#upstream?.close();
    }
  }

  /** Breaks it off. */
  abort(reason: AbortReason): void {
    const isForBoth = reason === "caller left" || reason === "cut";
    if (isForBoth || this.#isOver || this.#isUpgraded) this.#caller.wire.close();
    this.aborted ??= reason;
    this.#connecting.abort();
    this.#upstream?.close();
  }

  /** Looks whether somebody is late. */
  check(now: number): void {
    if (this.#answerBy < now) this.abort("upstream slow");
  }

  /** Looks whether the caller may still be here. */
  checkAccess(now: number): void {
    if (this.#began + REAUTHORIZE_INTERVAL <= now) this.reauthorize();
  }

  /** Breaks it off if the caller would not be let in any more. */
  reauthorize(): void {
    if (this.#isJudging || this.#isOver) return;
    this.#isJudging = true;
    isStillAuthorized(this.#ctx.store, this.#admitted)
      // While the store cannot be asked, its last word holds.
      .catch(() => true)
      .then((allowed) => {
        this.#isJudging = false;
        if (!allowed && !this.#isOver) this.abort("cut");
      });
  }

  /** Sends the request and waits for the head of the answer; a second time where a used connection has just ended. */
  async #ask(upgrades: boolean): Promise<ResponseHead> {
    const { upstream, ...admitted } = this.#admitted;
    const { place: { prefix } } = admitted;
    const { authority } = upstream;
    const text = serializeRequestHead({
      ...admitted,
      head: this.#head,
      prefix,
      authority,
      upgrades,
    });
    const isRepeatable = this.#body.isDone && REPEATABLE.has(this.#head.method);
    const { now } = this.#ctx.clock;
    const used = this.#ctx.upstreams.take(upstream, isRepeatable ? 0 : now - UPSTREAM_FRESH_TIME);
    if (used !== undefined) {
      try {
        return await this.#askOver(used, text);
      } catch (error) {
        const isUntouched = error instanceof ConnectionLost && used.reader.length === 0;
        if (!isRepeatable || !isUntouched || this.aborted !== undefined) throw error;
        used.close();
      }
    }
    this.#answerBy = this.#ctx.clock.in(CONNECT_TIMEOUT);
    const wire = await this.#ctx.upstreams.connect(upstream, this.#connecting.signal);
    if (this.aborted !== undefined) wire.close();
    return await this.#askOver(wire, text);
  }

  async #askOver(wire: Connection, text: string): Promise<ResponseHead> {
    this.#upstream = wire;
    this.#sending = this.#send(wire, text);
    for (let count = 0; count <= MAX_INTERIM_RESPONSES; count++) {
      const head = await readHead(wire.reader);
      if (head === undefined) throw new ConnectionLost("The connection ended before an answer");
      const answer = parseResponseHead(head);
      if (answer.status >= 200 || answer.status === 101) {
        this.#hasAnswer = true;
        this.#answerBy = Infinity;
        return answer;
      }
    }
    throw new MalformedMessage("it has too many interim answers");
  }

  /** Sends the request. It never throws: who waits for the answer is told. */
  async #send(wire: Connection, text: string): Promise<void> {
    const body = this.#body;
    const chunked = this.#head.framing.kind === "chunked";
    try {
      this.#answerBy = this.#answerLimit();
      const piece = body.take();
      this.#visit.received += piece.length;
      await wire.send({ head: text, piece, chunked, isLast: body.isDone });
      if (!body.isDone) await this.#sendRest(wire, chunked);
      if (!body.isDone) return;
      this.#isSent = true;
      this.#watchCaller();
    } catch (error) {
      // Where the application takes no more, it may have answered; the end of its connection shows.
      if (error instanceof ConnectionLost) return;
      if (error instanceof MalformedMessage) this.malformed = error;
      else this.#ctx.onError(error, this.#visit.id);
      this.abort(error instanceof MalformedMessage ? "body malformed" : "cut");
    }
  }

  async #sendRest(wire: Connection, chunked: boolean): Promise<void> {
    const caller = this.#caller;
    const { reader } = caller.wire;
    if (this.#expectsContinue() && reader.length === 0 && !this.isAnswered) {
      await caller.write(CONTINUE).catch(() => this.abort("caller left"));
    }
    while (!this.#body.isDone) {
      // As long as the caller is waited for, the application need not answer.
      this.#answerBy = Infinity;
      caller.expectBytes();
      const more = await reader.fill();
      if (this.#isOver) return;
      caller.expectNothing();
      if (!more) return this.abort("caller left");
      this.#answerBy = this.#answerLimit();
      const piece = this.#body.take();
      this.#visit.received += piece.length;
      await wire.send({ piece, chunked, isLast: this.#body.isDone });
    }
  }

  #expectsContinue(): boolean {
    const { minor, fields } = this.#head;
    return minor === 1 && fields.some(({ lower }) => lower === "expect");
  }

  #answerLimit(): number {
    return this.#hasAnswer ? Infinity : this.#ctx.clock.in(this.#ctx.appsTimeout);
  }

  /** Reads on while the answer is waited for: only so the end of the caller shows. */
  #watchCaller(): void {
    const { reader } = this.#caller.wire;
    if (reader.isFull) return;
    reader.fill().then((more) => {
      if (this.#isOver || this.#isUpgraded) return;
      if (more) this.#watchCaller();
      else this.abort("caller left");
    });
  }

  /** Passes the answer on. */
  async #relay(answer: ResponseHead): Promise<boolean> {
    const { minor, method } = this.#head;
    const framing = responseFraming(method, answer);
    const wire = this.#upstream;
    if (wire === undefined) throw new ConnectionLost("There is no connection");
    const answerBody = bodyReader(wire.reader, framing);
    const chunked = minor === 1 && framing.kind !== "length";
    const closes = this.#caller.closesAfter(this.#head) || !this.#body.isDone;
    await this.#passBody(
      wire,
      answerBody,
      serializeResponseHead(answer, { chunked, closes }),
      chunked,
    );
    // A request without a body has left as soon as it was answered, whatever was told of it so far.
    if (this.#head.framing === NO_BODY) await this.#sending;
    const isClean = this.#isSent && this.aborted === undefined;
    if (isClean && framing.kind !== "close" && isReusable(answer) && wire.reader.length === 0) {
      this.#upstream = undefined;
      this.#ctx.upstreams.release(this.#admitted.upstream, wire, this.#ctx.clock.now);
    }
    return isClean && !closes;
  }

  async #passBody(
    wire: Connection,
    body: BodyReader,
    text: string,
    chunked: boolean,
  ): Promise<void> {
    let head = text;
    for (;;) {
      const piece = body.take();
      if (head !== "" || piece.length > 0 || body.isDone && chunked) {
        this.isAnswered = true;
        await this.#caller.send({ head, piece, chunked, isLast: body.isDone });
        this.#visit.sent += piece.length;
        head = "";
      }
      if (body.isDone) return;
      if (await wire.reader.fill()) continue;
      // "A response that breaks off upstream breaks the caller's connection."
      if (!body.end()) throw new ConnectionLost("The answer is not complete");
    }
  }

  /** Passes bytes both ways, whatever they mean, until one side has ended and the other had time to. */
  async #tunnel(answer: ResponseHead): Promise<void> {
    const wire = this.#upstream;
    if (wire === undefined) throw new ConnectionLost("There is no connection");
    this.isAnswered = this.#isUpgraded = true;
    if (this.#ctx.isDraining) return this.abort("cut");
    const caller = this.#caller;
    await caller.send({
      head: serializeUpgrade(answer),
      piece: NOTHING,
      chunked: false,
      isLast: false,
    });
    await tunnel(
      caller,
      wire,
      this.#visit,
      () => this.#answerBy = this.#ctx.clock.in(HALF_CLOSE_TIME),
    );
  }
}

function isReusable({ minor, fields }: ResponseHead): boolean {
  if (minor === 0) return false;
  return !fields.some(({ lower, value }) => lower === "connection" && /\bclose\b/i.test(value));
}

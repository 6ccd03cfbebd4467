/**
 * One HTTP request with its answer, with the modules of Node: `fetch` copies bodies of requests several times, and does
 * not tell how far it has sent one.
 *
 * @module
 */
import * as http from "node:http";
import * as https from "node:https";
import * as tls from "node:tls";
import { ByteWriter, release } from "../bytes.ts";
import type { Bytes } from "../bytes.ts";
import { MAX_OBJECT } from "./target.ts";

export interface HttpRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: Bytes | undefined;
}

export interface HttpAnswer {
  status: number;
  date: string | undefined;
  body: Bytes;
}

/** Bytes of a body that are written at once. */
const PIECE = 64 * 1024;

/** The other side has neither taken nor sent a byte for too long. */
export class NoProgress extends Error {
  override readonly name = "NoProgress";
}

/** Sends requests over connections that stay open in between. */
export class HttpClient {
  readonly #agents: { "http:": http.Agent; "https:": https.Agent };

  /**
   * @param patience Milliseconds without progress after which an exchange fails.
   * @param authorities Certificates of further authorities to trust, in PEM.
   */
  constructor(private readonly patience: number, authorities?: string) {
    // The modules of Node do not know those that the runtime was given.
    const ca = authorities === undefined ? {} : { ca: [...knownAuthorities(), authorities] };
    this.#agents = {
      "http:": new http.Agent({ keepAlive: true }),
      "https:": new https.Agent({ keepAlive: true, ...ca }),
    };
  }

  /** Sends a request and reads its answer. Throws what the network throws. */
  exchange({ method, url, headers, body }: HttpRequest): Promise<HttpAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const isSecure = url.protocol === "https:";
    const agent = this.#agents[isSecure ? "https:" : "http:"];
    const send = isSecure ? https.request : http.request;
    const length = String(body?.byteLength ?? 0);
    const request = send(url, {
      method,
      agent,
      headers: body === undefined ? headers : { ...headers, "content-length": length },
    });
    const fail = (error: unknown) => {
      clearTimeout(timer);
      request.destroy();
      reject(error);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const progress = () => {
      clearTimeout(timer);
      timer = setTimeout(() => fail(new NoProgress("it does not answer")), this.patience);
    };
    progress();
    request.on("error", fail);
    request.on("response", (response: http.IncomingMessage) => {
      progress();
      readBody(response, progress).then((found) => {
        clearTimeout(timer);
        const { date } = response.headers;
        resolve({ status: response.statusCode ?? 0, date, body: found });
      }, fail);
    });
    writeBody(request, body, progress);
    return promise;
  }
}

/** The oldest supported runtime tells only those that it was built with. */
function knownAuthorities(): readonly string[] {
  const { getCACertificates }: Partial<typeof tls> = tls;
  return getCACertificates?.("default") ?? tls.rootCertificates;
}

function writeBody(
  request: http.ClientRequest,
  body: Bytes | undefined,
  onProgress: () => void,
): void {
  let at = 0;
  const write = () => {
    onProgress();
    while (body !== undefined && at < body.byteLength) {
      if (!request.write(body.subarray(at, at += PIECE))) return void request.once("drain", write);
    }
    request.end();
  };
  write();
}

async function readBody(response: http.IncomingMessage, onPiece: () => void): Promise<Bytes> {
  const announced = response.headers["content-length"];
  const size = announced === undefined ? undefined : Number(announced);
  if (size !== undefined && size > MAX_OBJECT) throw new Error("its answer is too long");
  const writer = new ByteWriter(size);
  for await (const piece of response as AsyncIterable<Uint8Array>) {
    onPiece();
    writer.bytes(piece);
    release(piece);
    if (writer.length > MAX_OBJECT) throw new Error("its answer is too long");
  }
  const isCut = !response.complete || size !== undefined && size !== writer.length;
  if (isCut && response.statusCode !== 204) throw new Error("its answer was cut off");
  return writer.written;
}

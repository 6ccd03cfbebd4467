import {
  CreateBucketCommand,
  GetObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { assert, assertEquals } from "@std/assert";
import https from "node:https";
import { IS_PEER, REGION, type S3Keys, S3Site, type Transport, TRANSPORTS } from "./site.ts";

/** The bytes of a body. */
type Bytes = Uint8Array<ArrayBuffer>;

/** The SDK of the vendor with its default settings, and a bucket. */
export class S3Bench {
  constructor(readonly site: S3Site, readonly s3: S3Client, readonly bucket: string) {}

  async put(
    key: string,
    body: Bytes | string,
    more: Partial<PutObjectCommandInput> = {},
  ): Promise<string> {
    const input = { Bucket: this.bucket, Key: key, Body: body, ...more };
    const { ETag } = await this.s3.send(new PutObjectCommand(input));
    assert(ETag !== undefined);
    return ETag;
  }

  async get(key: string, bucket = this.bucket): Promise<Bytes> {
    const { Body } = await this.s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    return new Uint8Array(await Body?.transformToByteArray() ?? []);
  }

  async text(key: string): Promise<string> {
    return new TextDecoder().decode(await this.get(key));
  }

  async newBucket(): Promise<string> {
    const name = this.site.newBucket();
    await this.s3.send(new CreateBucketCommand({ Bucket: name }));
    return name;
  }
}

type Run = (bench: S3Bench) => Promise<void>;

/** Adds a step to a suite. */
interface AddStep {
  (sentence: string, run: Run): void;
  /** A step whose expectation is that of the vendor's documentation, which the peer does not follow. */
  unlikePeer(sentence: string, run: Run): void;
}

/** A test over http and over https, whose steps share one server each and have a bucket of their own. */
export function sdkSuite(
  about: string,
  transports: readonly Transport[] = TRANSPORTS,
): AddStep {
  const steps: { sentence: string; run: Run; isUnlikePeer: boolean }[] = [];
  for (const transport of transports) {
    Deno.test(`${about}, over ${transport}`, async (t) => {
      await using site = await S3Site.start(transport);
      const s3 = sdkClient(site);
      for (const { sentence, run, isUnlikePeer } of steps) {
        const bucket = site.newBucket();
        await s3.send(new CreateBucketCommand({ Bucket: bucket }));
        const ignore = isUnlikePeer && IS_PEER;
        await t.step({ name: sentence, ignore, fn: () => run(new S3Bench(site, s3, bucket)) });
      }
      s3.destroy();
    });
  }
  const add = (sentence: string, run: Run) => {
    steps.push({ sentence, run, isUnlikePeer: false });
  };
  const unlikePeer = (sentence: string, run: Run) => {
    steps.push({ sentence, run, isUnlikePeer: true });
  };
  return Object.assign(add, { unlikePeer });
}

export interface ClientOptions {
  keys?: S3Keys;
  /** The assumed offset of the server's clock, in milliseconds. */
  clockOffset?: number;
  /** Whether the bucket is in the host name: all such names lead to this machine. */
  isHosted?: boolean;
}

/**
 * The SDK with its default settings, except that it uses path style unless `isHosted` is set. For an IP address the SDK
 * does so by default.
 */
export function sdkClient(site: S3Site, options: ClientOptions = {}): S3Client {
  const { keys = site.keys, clockOffset, isHosted = false } = options;
  return new S3Client({
    endpoint: site.endpoint,
    region: REGION,
    credentials: keys,
    forcePathStyle: !isHosted && site.transport === "https",
    maxAttempts: 1,
    ...clockOffset !== undefined && { systemClockOffset: clockOffset },
    ...site.authority !== undefined && {
      requestHandler: { httpsAgent: agent(site.authority) },
    },
  });
}

function agent(authority: string): https.Agent {
  type Found = (error: null, addresses: { address: string; family: number }[]) => void;
  const lookup = (_host: string, _options: unknown, found: Found): void =>
    found(null, [{ address: "127.0.0.1", family: 4 }]);
  const options = { ca: Deno.readTextFileSync(authority), lookup, keepAlive: true };
  return new https.Agent(options as https.AgentOptions);
}

/** Fails unless a call is refused with this status and code. @returns the error. */
export async function assertRefusal(
  call: Promise<unknown>,
  status: number,
  code: string,
): Promise<S3ServiceException> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof S3ServiceException)) throw error;
    assertEquals([error.$metadata.httpStatusCode, error.name], [status, code], error.message);
    return error;
  }
  throw new Error(`The call was not refused: ${status} ${code} expected`);
}

/** The status of an answer, of success or not. */
export async function statusOf(call: Promise<MetadataBearer>): Promise<number | undefined> {
  try {
    return (await call).$metadata.httpStatusCode;
  } catch (error) {
    if (!(error instanceof S3ServiceException)) throw error;
    return error.$metadata.httpStatusCode;
  }
}

/** An answer of the SDK. */
interface MetadataBearer {
  $metadata: { httpStatusCode?: number | undefined };
}

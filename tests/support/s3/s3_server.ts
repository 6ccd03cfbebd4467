import { assert } from "@std/assert";
import { encodeBase64 } from "@std/encoding/base64";
import { ADMIN_TOKEN, administer, PROJECTS } from "../admin.ts";
import { RawClient } from "../gate/raw_client.ts";
import { PROJECT_ID, type ServerOptions, TestServer } from "../server.ts";
import type { S3Key } from "./signed.ts";

/** What encrypts the secrets of S3 keys: a shared store has no folder for it. */
export const S3_SECRET = { KVDRIVE_S3_SECRET: encodeBase64(new Uint8Array(32).fill(7)) };

/** The domain that the tests give to S3. */
export const S3_DOMAIN = "s3.example.com";

/** A server with a port for S3 and a key of its project. */
export class S3Server implements AsyncDisposable {
  private constructor(readonly server: TestServer, readonly s3: string, readonly key: S3Key) {}

  static async start(options: ServerOptions = {}): Promise<S3Server> {
    const server = await TestServer.start({
      ...options,
      args: ["--s3-port", "0", ...options.args ?? []],
      env: { KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN, ...S3_SECRET, ...options.env },
    });
    return new S3Server(server, s3Of(server), await makeS3Key(server));
  }

  get port(): number {
    return Number(new URL(this.s3).port);
  }

  async connect(): Promise<RawClient> {
    return await RawClient.connect(this.port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

/** The address of S3 that a server printed. */
export function s3Of({ text }: { text: string }): string {
  const [, address] = /^S3 is at (https?:\/\/\S+)$/m.exec(text) ?? [];
  assert(address !== undefined, text);
  return address;
}

/** Creates a key of the project of the tests. */
export async function makeS3Key(server: { origin: string }, project = PROJECT_ID): Promise<S3Key> {
  const path = `${PROJECTS}/${project}/s3-keys`;
  const made = await administer(server, "POST", path, { body: { name: "tests" } });
  return made.expect(201).json as S3Key;
}

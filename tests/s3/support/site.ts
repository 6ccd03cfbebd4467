import { ADMIN_TOKEN, PROJECTS } from "../../support/admin.ts";
import { Folder } from "../../support/command.ts";
import { TestServer } from "../../support/server.ts";
import { TlsFiles } from "../../support/tls.ts";
import { PeerServer } from "./peer.ts";

/** Sends requests without comparing the responses with `/openapi.json`, which does not describe S3. */
export const plainFetch: typeof fetch = globalThis.fetch;

/** The path of a MinIO with which the tests themselves are checked, in place of this project's server. */
const PEER = Deno.env.get("KVDRIVE_S3_PEER");

/** Whether the tests run against another server than this project's. */
export const IS_PEER = PEER !== undefined;

export type Transport = "http" | "https";
export const TRANSPORTS: readonly Transport[] = ["http", "https"];

/** Any region works. For us-east-1 the AWS CLI and boto3 presign URLs with Signature Version 2. */
export const REGION = "eu-central-1";

/** The domain of `--s3-domain`: its addresses reach this machine everywhere. */
export const DOMAIN = "localhost";

/** The bucket whose host name is in the certificate. */
export const HOST_BUCKET = "hosted-bucket";

export interface S3Keys {
  accessKeyId: string;
  secretAccessKey: string;
}

/** What limits an S3 key, as `POST …/s3-keys` takes it. */
export interface KeyLimits {
  permissions?: string[];
  drives?: string[];
  prefix?: string;
  expires_in?: number;
}

/** A server with S3, a project and a key of it. */
export class S3Site implements AsyncDisposable {
  #buckets = 0;

  private constructor(
    readonly transport: Transport,
    /** Where S3 is, in path style. */
    readonly endpoint: string,
    readonly keys: S3Keys,
    readonly projectId: string,
    readonly projectKey: string,
    private readonly running: { server?: TestServer; peer?: PeerServer; tls?: TlsFiles },
    readonly folder: Folder,
    readonly client: Deno.HttpClient | undefined,
  ) {}

  static async start(transport: Transport, args: string[] = []): Promise<S3Site> {
    const tls = transport === "https"
      ? await TlsFiles.make([`${HOST_BUCKET}.${DOMAIN}`])
      : undefined;
    const folder = await Folder.make();
    if (PEER !== undefined) {
      const peer = await PeerServer.start(PEER, folder, tls);
      const site = [peer.endpoint, peer.keys, "", ""] as const;
      return new S3Site(transport, ...site, { peer, ...tls && { tls } }, folder, tls?.client());
    }
    const own = tls === undefined ? [] : [...tls.args, "--s3-domain", DOMAIN];
    const server = await TestServer.start({
      args: ["--s3-port", "0", ...own, ...args],
      env: { KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN },
    });
    const client = tls?.client();
    const post = poster(server.origin, client);
    const project = await post(PROJECTS, {}) as { project_id: string; project_key: string };
    const path = `${PROJECTS}/${project.project_id}/s3-keys`;
    const keys = keysOf(await post(path, { name: "tests" }));
    const endpoint = tls === undefined ? endpointOf(server) : `https://${DOMAIN}:${server.port}`;
    const ids = [project.project_id, project.project_key] as const;
    const running = { server, ...tls && { tls } };
    return new S3Site(transport, endpoint, keys, ...ids, running, folder, client);
  }

  /** The server of this project. */
  get server(): TestServer {
    if (this.running.server === undefined) throw new Error("The peer has no such interface");
    return this.running.server;
  }

  /** The file with the certificate of the authority, where the server speaks TLS. */
  get authority(): string | undefined {
    return this.running.tls?.authority;
  }

  /** A name for a bucket that no other test has. */
  newBucket(): string {
    return `bucket-${++this.#buckets}`;
  }

  /** Creates one more key of the project. */
  async makeKeys(limits: KeyLimits): Promise<S3Keys> {
    const path = `${PROJECTS}/${this.projectId}/s3-keys`;
    return keysOf(await poster(this.server.origin, this.client)(path, { name: "more", ...limits }));
  }

  /** What clients read from their environment: the variables of AWS, and none of the user's settings. */
  environment(keys: S3Keys = this.keys): Record<string, string> {
    const home = this.folder.path;
    return {
      PATH: Deno.env.get("PATH") ?? "",
      LANG: "C.UTF-8",
      HOME: home,
      XDG_CACHE_HOME: `${home}/.cache`,
      XDG_CONFIG_HOME: `${home}/.config`,
      AWS_CONFIG_FILE: `${home}/.aws/config`,
      AWS_SHARED_CREDENTIALS_FILE: `${home}/.aws/credentials`,
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
      AWS_DEFAULT_REGION: REGION,
      AWS_REGION: REGION,
      AWS_ENDPOINT_URL_S3: this.endpoint,
      ...this.authority && { AWS_CA_BUNDLE: this.authority },
      S3_URL: this.endpoint,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client?.close();
    await this.running.server?.[Symbol.asyncDispose]();
    await this.running.peer?.[Symbol.asyncDispose]();
    await this.running.tls?.[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}

function endpointOf({ text }: TestServer): string {
  const [, endpoint] = /^S3 is at (http\S+)$/m.exec(text) ?? [];
  if (endpoint === undefined) throw new Error(`The server does not say where S3 is: ${text}`);
  return endpoint;
}

/** Sends what only the administrator may send. */
function poster(
  origin: string,
  client: Deno.HttpClient | undefined,
): (path: string, body: unknown) => Promise<unknown> {
  return async (path, body) => {
    const response = await fetch(origin + path, {
      method: "POST",
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
      body: JSON.stringify(body),
      ...client && { client },
    });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
}

function keysOf(body: unknown): S3Keys {
  const { access_key_id, secret_access_key } = body as Record<string, string>;
  return { accessKeyId: access_key_id ?? "", secretAccessKey: secret_access_key ?? "" };
}

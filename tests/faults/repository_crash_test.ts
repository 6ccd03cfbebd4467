/** A server that takes snapshots, the S3 that has them, and commands that use both, killed at any moment. */
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMIN_TOKEN } from "../support/admin.ts";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { type CommandResult, Folder, spawnProgram } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { S3_SECRET, S3Server } from "../support/s3/s3_server.ts";
import { TestServer } from "../support/server.ts";
import { runProgram } from "./support/program_run.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const DRIVE = "drive";
const TARGET = "s3://bucket/backups";
const ROUNDS = isFull() ? 100 : 20;

/** The bits of those who are killed in a round. */
const [SERVER, SERVICE, COMMAND] = [1, 2, 4];

/** An S3 service that comes back at its address. */
class Service {
  #server: TestServer | undefined;

  private constructor(
    private readonly data: string,
    private readonly port: number,
    /** What commands need, and the servers that take snapshots. */
    readonly env: Record<string, string>,
  ) {}

  static async make(data: string): Promise<Service> {
    await using s3 = await S3Server.start({ data });
    await new Drive(s3.server, "bucket").put("other", "x");
    await s3.server.stop();
    return new Service(data, s3.port, {
      AWS_ACCESS_KEY_ID: s3.key.access_key_id,
      AWS_SECRET_ACCESS_KEY: s3.key.secret_access_key,
      KVDRIVE_BACKUP_PASSPHRASE: "a passphrase",
    });
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    this.#server = await TestServer.start({
      data: this.data,
      args: ["--s3-port", String(this.port)],
      env: { KVDRIVE_ADMIN_TOKEN: ADMIN_TOKEN, ...S3_SECRET },
    });
  }

  async kill(): Promise<void> {
    await this.#server?.stop("SIGKILL");
    await this.#server?.[Symbol.asyncDispose]();
  }
}

function sizeOf(round: number): number {
  return round % 3 === 0 ? MIB : 3000;
}

/** A command waits for a service that comes back soon; only its own snapshot may be gone, or a snapshot running. */
function assertServed({ code, stderr }: CommandResult, command: string): void {
  if (code === 0 || /was removed from .* while it was restored|prune later/.test(stderr)) return;
  assertEquals(code, 0, `${command}: ${stderr}`);
}

/** Starts a command that may be killed. Returns its result; `undefined` if it was killed. */
function start(
  args: string[],
  env: Record<string, string>,
): { result: Promise<CommandResult | undefined>; kill: () => void } {
  const process = spawnProgram(args, env);
  let isKilled = false;
  const kill = () => {
    isKilled = true;
    try {
      process.kill("SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const decoder = new TextDecoder();
  const result = process.output().then(({ code, stdout, stderr }) =>
    isKilled ? undefined : { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) }
  );
  return { result, kill };
}

Deno.test("A server, a service and commands that are killed lose no snapshot, and stop no other command.", async () => {
  const random = new Random(announceSeed());
  await using folder = await Folder.make();
  const data = folder.at("data");
  const service = await Service.make(folder.at("s3"));
  const { endpoint, env } = service;
  const s3 = ["--s3-endpoint", endpoint];
  const every = ["--backup-every", "1s", "--backup-keep-last", "3"];
  const commands = [
    ["backup", "--to", TARGET, "--data", data],
    ["backup", "check", "--to", TARGET, "--read-all"],
    ["restore", "--from", TARGET, "--data", folder.at("restored"), "--force"],
    ["backup", "prune", "--to", TARGET, "--keep-last", "2"],
  ];
  await service.start();
  for (let round = 0; round < ROUNDS; round++) {
    const server = await TestServer.start({
      data,
      args: ["--backup-to", TARGET, "--backup-s3-endpoint", endpoint, ...every],
      env,
    });
    await new Drive(server, DRIVE).put(`file-${round}`, patternBytes(sizeOf(round), round));
    if (round === 0) assertEquals((await runProgram([...commands[0] ?? [], ...s3], env)).code, 0);
    const command = commands[round % commands.length] ?? [];
    const running = start([...command, ...s3], env);
    await delay(random.below(3000));
    const victims = 1 + random.below(7);
    if ((victims & COMMAND) !== 0) running.kill();
    if ((victims & SERVICE) !== 0) await service.kill();
    if ((victims & SERVER) !== 0) await server.stop("SIGKILL");
    if ((victims & SERVICE) !== 0) await service.start();
    const result = await running.result;
    if (result !== undefined) assertServed(result, command.join(" "));
    await server.stop("SIGKILL");
    await server[Symbol.asyncDispose]();
  }
  assertServed(await runProgram([...commands[0] ?? [], ...s3], env), "backup");
  assertServed(await runProgram([...commands[1] ?? [], ...s3], env), "check");
  const last = folder.at("last");
  const restore = ["restore", "--from", TARGET, "--data", last, ...s3];
  assertServed(await runProgram(restore, env), "restore");
  await service.kill();
  await using server = await TestServer.start({ data: last });
  const drive = new Drive(server, DRIVE);
  for (let round = 0; round < ROUNDS; round++) {
    const { bytes } = await drive.get(`file-${round}`);
    assertSameBytes(bytes, patternBytes(sizeOf(round), round), `file-${round}`);
  }
  assert((await runProgram(["verify", "--data", last])).code === 0);
  await server.stop();
});

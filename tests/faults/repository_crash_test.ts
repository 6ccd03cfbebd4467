/** A server that takes snapshots, and the S3 that has them, killed at any moment while commands use both. */
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMIN_TOKEN } from "../support/admin.ts";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { type CommandResult, Folder } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { S3_SECRET, S3Server } from "../support/s3/s3_server.ts";
import { TestServer } from "../support/server.ts";
import { runProgram } from "./support/program_run.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const DRIVE = "drive";
const TARGET = "s3://bucket/backups";
const ROUNDS = isFull() ? 100 : 20;

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

/** A command waits for a service that comes back soon; only its own snapshot may be gone. */
function assertServed({ code, stderr }: CommandResult, command: string): void {
  if (code === 0 || /was removed from .* while it was restored/.test(stderr)) return;
  assertEquals(code, 0, `${command}: ${stderr}`);
}

Deno.test("A server and a service that are killed lose no snapshot, and stop no command.", async () => {
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
    const running = runProgram([...command, ...s3], env);
    await delay(random.below(3000));
    const victim = random.below(3);
    if (victim !== 0) await service.kill();
    if (victim !== 1) await server.stop("SIGKILL");
    if (victim !== 0) await service.start();
    assertServed(await running, command.join(" "));
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

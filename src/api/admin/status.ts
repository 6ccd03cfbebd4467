import { json } from "../../http/responses/json_response.ts";
import { jsonResponse } from "../../openapi/messages.ts";
import { closed, count, listOf, orNull, schema } from "../../openapi/schemas.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { formatBytes, GIB } from "../../rules/units.ts";
import type { BackupStatus } from "../../store/backup/backup_health.ts";
import type { Volume } from "../../store/disk/volume.ts";
import type { WebhookSummary } from "../../store/webhooks/webhook_store.ts";
import type { ServerLoad } from "../endpoint.ts";
import { administratorEndpoint } from "./admin_call.ts";
import { backupsJson, diskJson, integrityJson, snapshotsJson, sumOf } from "./json.ts";

/** A disk is nearly full if less than this share of it is free, and less than `LOW_BYTES` besides the reserve. */
const LOW_SHARE = 0.1;
const LOW_BYTES = 10 * GIB;

/** The most webhooks that a warning names. */
const LISTED_WEBHOOKS = 3;

/** `GET /admin/v1/status`: the state of the server, for its operator. */
export const showStatus = administratorEndpoint({
  id: "showStatus",
  tag: "The server",
  summary: "Show the state of the server",
  description:
    "Returns the version, the store, its disk, backups and checks, the load, and warnings. Running transfers and memory are " +
    "the sum over the processes of the server (`--processes`). For the administrator only.",
  success: { 200: jsonResponse("The state of the server.", "Status") },
  schemas: {
    Status: closed({
      version: { type: "string", examples: ["0.1.0"] },
      deno: { type: "string", description: "The version of the runtime.", examples: ["2.9.6"] },
      build: { type: "string", enum: ["from source", "packed", "compiled"] },
      started: schema("Second"),
      processes: count("The running processes of the server.", 1),
      s3: orNull({
        type: "string",
        description: "The address of S3.",
        examples: ["http://127.0.0.1:9000"],
      }),
      store: closed({
        kind: { type: "string", enum: ["file", "shared"] },
        bytes: orNull(count("The size of the file and its log.", 1_048_576)),
      }, { description: "`bytes` is `null` if the store is not a file of this server." }),
      disk: schema("Disk"),
      backups: orNull(schema("Backups")),
      snapshots: orNull(schema("Snapshots")),
      integrity: schema("Integrity"),
      uploads: closed({
        open: count("Uploads in parts that are neither complete nor aborted.", 2),
        running: count("Requests that send bytes of files.", 1),
      }),
      downloads: closed({ running: count("Requests that receive bytes of files.", 3) }),
      memory: closed({
        resident: count("Resident memory of all processes in bytes.", 150_000_000),
        heap: count("JavaScript heap in use in bytes.", 20_000_000),
      }),
      projects: count("The number of projects.", 4),
      files: count("The number of files in all of them.", 1200),
      bytes: count("Their total size.", 8_388_608),
      warnings: listOf({
        type: "string",
        minLength: 1,
        examples: ["There is no complete backup in /backups"],
      }, {
        description:
          "What the operator should act on, as sentences without a period. Commands stand between backquotes.",
      }),
      advice: listOf({
        type: "string",
        minLength: 1,
        examples: ["The server makes no backups: start it with `kvdrive serve --backup-to DIR`"],
      }, { description: "What is not wrong but unsafe, in the form of `warnings`." }),
    }, {
      description:
        "`backups` and `snapshots` are `null` if the server makes none, `s3` if S3 is off.",
    }),
    Snapshots: closed({
      target: { type: "string", description: "The repository.", examples: ["/mnt/disk/kvdrive"] },
      newest: orNull(schema("Second")),
      next: orNull(schema("Second")),
      every: { type: "number", description: "Seconds between two snapshots.", examples: [900] },
      files: orNull(count("The number of files in the newest snapshot.", 1200)),
      bytes: orNull(count("Their total size.", 8_388_608)),
      added: orNull(count("The bytes that the newest snapshot sent.", 65_536)),
      failures: count("The number of failed snapshots since the server was started.", 0),
      problem: orNull({
        type: "string",
        minLength: 1,
        description: "The problem with the snapshots, as a sentence; `null` if there is none.",
        examples: ["There is no complete backup in /mnt/disk/kvdrive"],
      }),
    }, {
      description:
        "The state of the server's snapshots: the newest one, when the next one is due, and a problem, if any.",
    }),
  },
}, async ({ origin }, { store, volume, wrongKeys, program, s3 }) => {
  const [disk, size, usages, integrity, webhooks, load] = await Promise.all([
    volume(),
    program.storeSize(),
    store.usage(),
    store.integrity(),
    store.webhooks.summary(),
    program.load(),
  ]);
  const { backup, snapshots, running, memory } = load;
  const { files, bytes } = sumOf(usages);
  const open = usages.reduce((sum, { openUploads }) => sum + openUploads, 0);
  return json(200, {
    version: program.version,
    deno: Deno.version.deno,
    build: program.build,
    started: isoSeconds(load.started),
    processes: load.processes,
    s3: s3(origin()) ?? null,
    store: { kind: program.storeKind, bytes: size ?? null },
    disk: diskJson(disk),
    backups: backup === undefined ? null : backupsJson(backup),
    snapshots: snapshots === undefined ? null : snapshotsJson(snapshots),
    integrity: integrityJson(integrity),
    uploads: { open, running: running.upload },
    downloads: { running: running.download },
    memory,
    projects: usages.length,
    files,
    bytes,
    warnings: [
      ...diskWarnings(disk, program.diskReserve),
      ...backupWarnings(backup),
      ...backupWarnings(snapshots),
      ...webhookWarnings(webhooks),
      ...damageWarnings(integrity.damages.length),
      ...lockoutWarnings(wrongKeys.countWaiting()),
      ...load.warnings,
    ],
    advice: [...backupAdvice(load, program.storeKind)],
  });
});

export function* diskWarnings(disk: Volume | undefined, reserve: number): Generator<string> {
  if (disk === undefined) return;
  const { free, total } = disk;
  const left = free - reserve;
  if (left >= Math.min(LOW_SHARE * total, LOW_BYTES)) return;
  const state = left <= 0 ? "full, and uploads are refused" : "nearly full";
  const [bytes, of, kept] = [free, total, reserve].map(formatBytes);
  yield `The disk of the store is ${state}: ${bytes} of ${of} are free, of which ${kept} are a reserve. ` +
    "Free some space, after `kvdrive project list` shows what takes it, or move the data to a larger disk";
}

function* backupWarnings(backup: BackupStatus | undefined): Generator<string> {
  if (backup?.problem !== undefined) yield backup.problem;
}

/** A shared store has backups of its own. */
function* backupAdvice(
  { backup, snapshots }: ServerLoad,
  storeKind: "file" | "shared",
): Generator<string> {
  if (backup !== undefined || snapshots !== undefined || storeKind === "shared") return;
  yield "The server makes no backups: start it with `kvdrive serve --backup-to DIR`, " +
    "where DIR is a folder on another disk";
}

function* damageWarnings(damaged: number): Generator<string> {
  if (damaged === 0) return;
  const [files, each] = damaged === 1 ? ["1 file is", "it"] : [`${damaged} files are`, "each"];
  yield `${files} damaged: restore ${each} from a backup ` +
    `(\`kvdrive restore --from DIR --drive DRIVE --file NAME\`), or replace or delete ${
      damaged === 1 ? "it" : "them"
    }`;
}

function* webhookWarnings({ ended }: WebhookSummary): Generator<string> {
  if (ended.length === 0) return;
  const listed = ended.slice(0, LISTED_WEBHOOKS)
    .map(({ project, name }) => `${JSON.stringify(name)} of project ${project}`);
  const others = ended.length - listed.length;
  const names = `${listed.join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
  const [webhooks, receivers] = ended.length === 1
    ? [`The webhook ${names} was`, "its receiver has"]
    : [`The webhooks ${names} were`, "their receivers have"];
  yield `${webhooks} disabled, because ${receivers} failed: repair what failed, and run ` +
    "`kvdrive webhook enable PROJECT ID`";
}

function* lockoutWarnings(networks: number): Generator<string> {
  if (networks === 0) return;
  const who = networks === 1 ? "1 network has" : `${networks} networks have`;
  yield `${who} to wait after too many wrong keys: look for the status 429 in the log`;
}

import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import {
  administer,
  ADMINISTERED,
  administrator,
  assertPrivate,
  Project,
  SECONDS,
} from "../../support/admin.ts";
import { Folder } from "../../support/command.ts";
import { newAddress, TestServer } from "../../support/server.ts";
import { denokvProgram } from "../../support/store/denokv.ts";
import { suite } from "../../support/suite.ts";
import { TlsFiles } from "../../support/tls.ts";

const test = suite("The state of the server", { ...ADMINISTERED, alone: true });

const STATUS = "/admin/v1/status";

interface Status {
  version: string;
  deno: string;
  build: string;
  started: string;
  store: { kind: string; bytes: number | null };
  disk: { total: number | null; free: number | null };
  backups: { newest: string | null; problem: string | null } | null;
  integrity: { damaged_files: number };
  uploads: { open: number; running: number };
  downloads: { running: number };
  memory: { resident: number; heap: number };
  projects: number;
  files: number;
  bytes: number;
  warnings: string[];
  advice: string[];
}

async function statusOf(server: { origin: string }): Promise<Status> {
  const answer = await administer(server, "GET", STATUS);
  assertPrivate(answer.expect(200));
  return answer.json as Status;
}

test("It says what runs, since when, and on which store.", async ({ server }) => {
  const status = await statusOf(server);
  assertMatch(status.version, /^\d+\.\d+\.\d+/);
  assertMatch(status.deno, /^\d+\.\d+\.\d+/);
  assert(["from source", "packed", "compiled"].includes(status.build), status.build);
  assertMatch(status.started, SECONDS);
  const age = Date.now() - Date.parse(status.started);
  assert(age > -1000 && age < 600_000, status.started);
  const isShared = denokvProgram() !== undefined;
  assertEquals(status.store.kind, isShared ? "shared" : "file");
  assertEquals(status.store.bytes !== null && status.store.bytes > 0, !isShared);
  assertEquals(status.disk.free !== null, !isShared);
  assertEquals(status.backups, null, "a server without --backup-dir makes none");
  assert(status.memory.resident > status.memory.heap && status.memory.heap > 0);
});

test("It counts projects, files, bytes and open uploads.", async ({ server }) => {
  const before = await statusOf(server);
  const drive = (await Project.make(server)).drive("d");
  await drive.put("a.txt", "12345");
  (await drive.send("POST", "/uploads?name=big")).expect(202);
  const after = await statusOf(server);
  assertEquals(
    [after.projects, after.files, after.bytes, after.uploads.open],
    [before.projects + 1, before.files + 1, before.bytes + 5, before.uploads.open + 1],
  );
});

test("Networks that have to wait after wrong keys are a warning.", async ({ server }) => {
  const isAboutKeys = (warning: string) => warning.includes("wrong keys");
  assertEquals((await statusOf(server)).warnings.filter(isAboutKeys), []);
  const from = { "X-Forwarded-For": newAddress() };
  for (let i = 0; i < 25; i++) {
    await administer(server, "GET", STATUS, { as: { ...from, Authorization: "Bearer wrong" } });
  }
  assertEquals((await statusOf(server)).warnings.filter(isAboutKeys).length, 1);
  assertEquals(
    (await administer(server, "GET", STATUS, { as: { ...administrator, ...from } })).status,
    200,
  );
});

Deno.test("A server without a fault has no warnings.", async () => {
  await using server = await TestServer.start(ADMINISTERED);
  const { warnings, advice } = await statusOf(server);
  assertEquals(warnings, []);
  const isFile = denokvProgram() === undefined;
  assertEquals(advice.length, isFile ? 1 : 0);
  if (isFile) assertMatch(advice[0] ?? "", /no backups.*`kvdrive serve --backup-to DIR`/);
});

Deno.test("A full disk, an open folder, a failed backup and a certificate near its end are warnings.", async () => {
  if (denokvProgram() !== undefined || Deno.build.os === "windows") return;
  await using folder = await Folder.make();
  const data = folder.at("data");
  await Deno.mkdir(data, { mode: 0o755 });
  const backups = folder.at("backups");
  // Its certificate is valid for a day.
  await using files = await TlsFiles.make();
  const args = ["--disk-reserve", "1PB", "--backup-dir", backups, ...files.args];
  await using server = await TestServer.start({ ...ADMINISTERED, data, args });
  using client = files.client();
  const init = { headers: administrator, client };
  const read = async () => {
    const response = await fetch(`https://localhost:${server.port}${STATUS}`, init);
    assertEquals(response.status, 200);
    return await response.json() as Status;
  };
  let status = await read();
  for (let i = 0; i < 600 && status.backups?.problem === null; i++) {
    await delay(100);
    status = await read();
  }
  const { warnings, advice } = status;
  assertEquals(advice, []);
  const wanted = [
    /^The disk .* full/,
    /backup/,
    /^The data folder .*755/,
    /^The certificate .*expires/,
  ];
  assertEquals(warnings.length, wanted.length, warnings.join("\n"));
  wanted.forEach((pattern, i) => assertMatch(warnings[i] ?? "", pattern));
  assertEquals(warnings.filter((warning) => warning.endsWith(".")), []);
});

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async/delay";
import { join } from "@std/path/join";
import { ended, findTool, TestPack } from "./test_pack.ts";

const SHELLS = ["dash", "bash", "busybox", "zsh", "ksh"];
const isRoot = Deno.uid() === 0;

/** Demands an end with one sentence of the head's. */
function assertFailed(
  { code, stdout, stderr }: Awaited<ReturnType<TestPack["run"]>>,
  says: RegExp,
) {
  assertEquals([code, stdout], [1, ""], stderr);
  assertMatch(stderr, says);
  assertMatch(stderr, /^kvdrive: [^\n]+\n$/);
}

async function waitFor(holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!await holds()) {
    assert(Date.now() < end, "What was waited for did not come");
    await delay(20);
  }
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

Deno.test("It is unpacked once, and passes on its arguments, the umask and the exit status", async () => {
  await using pack = await TestPack.make();
  const args = ["serve", "a b", "", "*", "--", "$HOME"];
  const first = await pack.run(args, { TEST_DO: "umask; exit 7" });
  assertEquals([first.code, first.stderr], [7, ""]);
  const umask = new TextDecoder().decode(
    (await new Deno.Command("sh", { args: ["-c", "umask"] }).output()).stdout,
  );
  assertEquals(
    first.stdout,
    `[main.ts][serve][a b][][*][--][$HOME] ${umask.trim()} ${pack.path}\n${umask}`,
  );
  const [room = "", ...others] = await pack.entries();
  assertEquals(others, []);
  assertMatch(room, /^[0-9a-f]{64}$/);
  const { ino } = await Deno.stat(join(pack.cache, room, "deno"));
  assertEquals((await pack.run(args)).code, 0);
  assertEquals((await Deno.stat(join(pack.cache, room, "deno"))).ino, ino);
  for (const path of [pack.cache, join(pack.cache, room)]) {
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o700);
  }
});

Deno.test("Many that start it for the first time at once all find it whole", async () => {
  await using pack = await TestPack.make();
  const runs = await Promise.all(Array.from({ length: 12 }, () => pack.run(["a"])));
  for (const { code, stdout, stderr } of runs) {
    assertEquals([code, stderr], [0, ""]);
    assertStringIncludes(stdout, "[main.ts][a]");
  }
  assertEquals((await pack.entries()).length, 1);
});

Deno.test("A file of which a byte is another one, or the end is missing, is refused and unpacks nothing", async () => {
  await using pack = await TestPack.make();
  const whole = await Deno.readFile(pack.path);
  const changed = whole.slice();
  changed[whole.byteLength - 40]! ^= 1;
  for (const bytes of [changed, whole.subarray(0, -1)]) {
    await Deno.writeFile(pack.path, bytes);
    assertFailed(await pack.run(), /kvdrive-packed is damaged/);
    assert(!await isThere(pack.cache));
  }
});

Deno.test("The file finds and unpacks itself from any path and any call", async () => {
  await using pack = await TestPack.make("my 'files' $HOME/kv drive");
  const folder = join(pack.folder, "my 'files' $HOME");
  const path = `${folder}:${Deno.env.get("PATH")}`;
  const KVDRIVE_RUNTIME_DIR = "a cache 'of' $mine";
  const calls: [Record<string, string>, [string, ...string[]]][] = [
    [{}, [pack.path]],
    [{}, ["./my 'files' $HOME/kv drive"]],
    [{}, ["sh", "my 'files' $HOME/kv drive"]],
    [{ PATH: path }, ["sh", "-c", "exec 'kv drive'"]],
  ];
  for (const [env, words] of calls) {
    const { code, stdout, stderr } = await pack.run([], { KVDRIVE_RUNTIME_DIR, ...env }, words);
    assertEquals([code, stderr], [0, ""], words.join(" "));
    assertMatch(stdout, /^\[main\.ts\] \d+ \/.*\/kv drive\n$/);
  }
  assertEquals((await pack.entries(join(pack.folder, KVDRIVE_RUNTIME_DIR))).length, 1);
});

Deno.test("It goes to the folder that is named, else to the user's cache, else to a temporary folder", async () => {
  await using pack = await TestPack.make();
  const at = (name: string) => join(pack.folder, name);
  const named = { KVDRIVE_RUNTIME_DIR: at("named") };
  const xdg = { XDG_CACHE_HOME: at("xdg") };
  const home = { HOME: at("home") };
  const temporary = { TMPDIR: at("tmp") };
  await Deno.mkdir(at("tmp"));
  const none = { KVDRIVE_RUNTIME_DIR: "" };
  const cases: [Record<string, string>, string][] = [
    [{ ...named, ...xdg, ...home }, at("named")],
    [{ ...none, ...xdg, ...home }, at("xdg/kvdrive")],
    [{ ...none, ...home }, at("home/.cache/kvdrive")],
    [{ ...none, ...temporary }, at(`tmp/kvdrive-${Deno.uid()}`)],
  ];
  for (const [env, folder] of cases) {
    assert(!await isThere(folder));
    assertEquals(await pack.run([], env).then(({ code, stderr }) => [code, stderr]), [0, ""]);
    assertEquals((await pack.entries(folder)).length, 1);
  }
});

Deno.test("A folder that cannot be made is reported with advice", async () => {
  await using pack = await TestPack.make();
  await Deno.writeTextFile(join(pack.folder, "file"), "");
  for (const folder of ["/proc/kvdrive", join(pack.folder, "file/cache")]) {
    const run = await pack.run([], { KVDRIVE_RUNTIME_DIR: folder });
    assertFailed(run, /Cannot make the folder .*KVDRIVE_RUNTIME_DIR/);
  }
});

Deno.test("A folder that others may write to is refused, before and after", async () => {
  await using pack = await TestPack.make();
  await Deno.mkdir(pack.cache);
  for (const mode of [0o770, 0o702]) {
    await Deno.chmod(pack.cache, mode);
    assertFailed(await pack.run(), /Others may write to the folder/);
  }
  assertEquals(await pack.entries(), []);
  await Deno.chmod(pack.cache, 0o755);
  assertEquals((await pack.run()).code, 0);
  const [room = ""] = await pack.entries();
  await Deno.chmod(join(pack.cache, room), 0o777);
  assertFailed(await pack.run(), /Others may write to the folder/);
});

Deno.test({
  name: "A folder of another user is refused",
  ignore: !isRoot,
  async fn() {
    await using pack = await TestPack.make();
    await Deno.mkdir(pack.cache, { mode: 0o755 });
    await Deno.chown(pack.cache, 4711, 4711);
    assertFailed(await pack.run(), /belongs to another user/);
  },
});

Deno.test("A folder below one that others can change is refused before anything is made in it", async () => {
  await using pack = await TestPack.make();
  const open = join(pack.folder, "open");
  await Deno.mkdir(open);
  await Deno.chmod(open, 0o777);
  const env = { KVDRIVE_RUNTIME_DIR: join(open, "deep/cache") };
  assertFailed(await pack.run([], env), /Others may write to the folder \S+\/open: .*chmod/);
  assertEquals(await pack.entries(open), []);
  // In a sticky folder, as /tmp is one, others cannot replace what is there.
  await Deno.chmod(open, 0o1777);
  assertEquals((await pack.run([], env)).code, 0);
});

Deno.test("A link that is named as the folder is the user's choice", async () => {
  await using pack = await TestPack.make();
  await Deno.mkdir(join(pack.folder, "real"), { mode: 0o700 });
  await Deno.symlink("real", pack.cache);
  assertEquals((await pack.run()).code, 0);
  assertEquals((await pack.entries(join(pack.folder, "real"))).length, 1);
});

Deno.test("A link in the place of the unpacked folder is not followed", async () => {
  await using pack = await TestPack.make();
  assertEquals((await pack.run()).code, 0);
  const [room = ""] = await pack.entries();
  await Deno.rename(join(pack.cache, room), join(pack.folder, "elsewhere"));
  await Deno.symlink("../elsewhere", join(pack.cache, room));
  assertFailed(await pack.run(), /is no folder: remove it/);
});

Deno.test({
  name: "What others put under our name among the temporary files is passed by, and never run",
  ignore: !isRoot,
  async fn() {
    await using pack = await TestPack.make();
    const TMPDIR = join(pack.folder, "tmp");
    const theirs = join(pack.folder, "theirs");
    await Deno.mkdir(TMPDIR);
    await Deno.chmod(TMPDIR, 0o1777);
    await Deno.mkdir(theirs);
    const name = `kvdrive-${Deno.uid()}`;
    const env = { KVDRIVE_RUNTIME_DIR: "", TMPDIR };
    const traps: (() => Promise<void>)[] = [
      () => Deno.symlink(theirs, join(TMPDIR, name)),
      () => Deno.symlink("nowhere", join(TMPDIR, name)),
      async () => {
        await Deno.mkdir(join(TMPDIR, name));
        await Deno.chown(join(TMPDIR, name), 4711, 4711);
      },
    ];
    for (const trap of traps) {
      await trap();
      for (let start = 0; start < 2; start++) {
        const { code, stdout, stderr } = await pack.run(["a"], env);
        assertEquals([code, stderr], [0, ""]);
        assertStringIncludes(stdout, "[main.ts][a]");
      }
      const [, own = "", ...others] = await pack.entries(TMPDIR);
      assertEquals(others, []);
      assertEquals((await Deno.lstat(join(TMPDIR, own))).mode! & 0o777, 0o700);
      assertEquals(await pack.entries(theirs), []);
      for (const name of await pack.entries(TMPDIR)) {
        await Deno.remove(join(TMPDIR, name), { recursive: true });
      }
    }
  },
});

Deno.test({
  name: "A folder below one of another user is refused",
  ignore: !isRoot,
  async fn() {
    await using pack = await TestPack.make();
    const theirs = join(pack.folder, "theirs");
    await Deno.mkdir(theirs);
    await Deno.chown(theirs, 4711, 4711);
    await Deno.symlink("theirs", join(pack.folder, "link"));
    for (const folder of ["theirs/cache", "theirs/a/b", "link/cache"]) {
      const run = await pack.run([], { KVDRIVE_RUNTIME_DIR: join(pack.folder, folder) });
      assertFailed(run, /The folder \S+\/theirs belongs to another user/);
    }
    assertEquals(await pack.entries(theirs), []);
  },
});

Deno.test("Unpacked files that are not what the archive holds are unpacked again", async () => {
  await using pack = await TestPack.make();
  const { stdout } = await pack.run(["a"]);
  const [room = ""] = await pack.entries();
  const at = (path: string) => join(pack.cache, room, path);
  const damages: (() => Promise<void>)[] = [
    () => Deno.writeTextFile(at("deno"), "#!/bin/sh\necho wrong\n"),
    () => Deno.remove(at("app/main.ts")),
    () => Deno.writeTextFile(at("SHA256SUMS"), ""),
    () => Deno.remove(at("app"), { recursive: true }),
  ];
  for (const damage of damages) {
    await damage();
    const run = await pack.run(["a"]);
    assertEquals([run.code, run.stdout, run.stderr], [0, stdout, ""]);
    assertEquals(await pack.entries(), [room]);
  }
});

Deno.test("Unpacked files are read again only when one of them changed", async () => {
  await using pack = await TestPack.make();
  assertEquals((await pack.run()).code, 0);
  const log = join(pack.folder, "log");
  const sha256sum = `echo "$@" >> '${log}'; exec ${await findTool("sha256sum")} "$@"`;
  const PATH = await pack.tools("sha256sum", { sha256sum });
  assertEquals((await pack.run([], { PATH })).code, 0);
  // The first run wrote into the cache of the runtime at most, so its checks hold.
  const [room = ""] = await pack.entries();
  await Deno.writeTextFile(join(pack.cache, room, "cache/compiled"), "");
  assertEquals((await pack.run([], { PATH })).code, 0);
  assert(!await isThere(log));
  const main = join(pack.cache, room, "app/main.ts");
  await Deno.utime(main, new Date(), new Date(Date.now() + 1000));
  assertEquals((await pack.run([], { PATH })).code, 0);
  assertStringIncludes(await Deno.readTextFile(log), "-c SHA256SUMS");
});

Deno.test("A disk that is full leaves nothing half-made", async () => {
  await using pack = await TestPack.make();
  const tar = "mkdir half; echo 'tar: deno: No space left on device' >&2; exit 2";
  const PATH = await pack.tools("sha256sum", { tar });
  assertFailed(await pack.run([], { PATH }), /Cannot unpack \d+ MB .*No space left on device/);
  assertEquals(await pack.entries(), []);
  assertEquals((await pack.run()).code, 0);
});

Deno.test("A runtime that does not start here is reported, and leaves nothing", async () => {
  await using pack = await TestPack.make();
  const run = await pack.run([], { TEST_VERSION_STATUS: "127" });
  assertFailed(run, new RegExp(`The runtime, which is for ${Deno.build.target}, does not start`));
  assertEquals(await pack.entries(), []);
});

Deno.test("A signal while it is unpacked ends it, and leaves nothing", async () => {
  for (const [signal, status] of [["SIGTERM", 143], ["SIGINT", 130], ["SIGHUP", 129]] as const) {
    await using pack = await TestPack.make();
    const at = (name: string) => join(pack.folder, name);
    const tar = `: > '${at("began")}'; read -r _ < '${at("gate")}'`;
    await new Deno.Command("mkfifo", { args: [at("gate")] }).output();
    // Open for both directions, it waits for no reader.
    using gate = await Deno.open(at("gate"), { read: true, write: true });
    const process = pack.start([], { PATH: await pack.tools("sha256sum", { tar }) });
    const output = ended(process);
    await waitFor(() => isThere(at("began")));
    process.kill(signal);
    await gate.write(new TextEncoder().encode("\n"));
    assertEquals((await output).code, status, signal);
    assertEquals(await pack.entries(), []);
  }
});

Deno.test("What a killed process or an old one of another machine left is removed, and nothing else", async () => {
  await using pack = await TestPack.make();
  const gone = new Deno.Command("true").spawn();
  await gone.status;
  const host = Deno.hostname();
  const alive = `.new-${Deno.pid}-${host}`;
  const young = ".new-1-other-machine";
  const old = ".new-2-other-machine";
  await Deno.mkdir(pack.cache, { mode: 0o700 });
  for (const name of [alive, young, old, `.new-${gone.pid}-${host}`, ".gone-3-x", "other"]) {
    await Deno.mkdir(join(pack.cache, name, "deep"), { recursive: true });
  }
  await Deno.utime(join(pack.cache, old), new Date(0), new Date(0));
  assertEquals((await pack.run()).stderr, "");
  const left = (await pack.entries()).filter((name) => !/^[0-9a-f]{64}$/.test(name));
  assertEquals(left, [alive, young, "other"].toSorted());
});

Deno.test("A signal reaches the program itself", async () => {
  await using pack = await TestPack.make();
  const TEST_DO = "trap 'echo ended; exit 5' TERM; echo ready; while :; do sleep 0.05; done";
  const process = pack.start([], { TEST_DO });
  const output = process.stdout.pipeThrough(new TextDecoderStream());
  let text = "";
  for await (const piece of output) {
    if (!text.includes("ready") && piece.includes("ready")) process.kill("SIGTERM");
    text += piece;
  }
  assertEquals((await process.status).code, 5);
  assertStringIncludes(text, "ended");
  await process.stderr.cancel();
});

for (const shell of SHELLS) {
  Deno.test({
    name: `The head is understood by ${shell}`,
    ignore: await findTool(shell) === undefined,
    async fn() {
      await using pack = await TestPack.make();
      const words: [string, ...string[]] = shell === "busybox"
        ? ["busybox", "sh", pack.path]
        : [shell, pack.path];
      for (let round = 0; round < 2; round++) {
        const { code, stdout, stderr } = await pack.run(["a b"], {}, words);
        assertEquals([code, stderr], [0, ""]);
        assertStringIncludes(stdout, "[main.ts][a b]");
      }
    },
  });
}

for (const tool of ["sha256sum", "shasum", "openssl"]) {
  Deno.test({
    name: `The archive is checked with ${tool}`,
    ignore: await findTool(tool) === undefined,
    async fn() {
      await using pack = await TestPack.make();
      const PATH = await pack.tools(tool);
      assertEquals(await pack.run([], { PATH }).then(({ code, stderr }) => [code, stderr]), [
        0,
        "",
      ]);
    },
  });
}

Deno.test("Where nothing can check the archive it is not unpacked", async () => {
  await using pack = await TestPack.make();
  const PATH = await pack.tools("tar");
  assertFailed(await pack.run([], { PATH }), /sha256sum, shasum and openssl/);
});

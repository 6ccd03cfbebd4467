import { assert, assertEquals, assertMatch } from "@std/assert";
import { assertRefused, EXECUTABLE, Folder, runCommand } from "../support/command.ts";

/** The exposure from 0.0 to 10.0 that systemd counts, 0 is none; the server's own ports are part of it. */
const MAX_EXPOSURE = 2;

Deno.test("A unit for systemd goes to standard output, or into a file that is not there yet.", async () => {
  const { code, stdout, stderr } = await runCommand(["install", "--data", "/srv/files"]);
  assertEquals(code, 0);
  // Deno itself may be in a cache here, or in a folder of root.
  assertMatch(stderr, /^(Warning: .* (is in a cache|cannot reach).*\n)?$/);
  assertMatch(stdout, /^ExecStart=.* serve --data \/srv\/files$/m);
  await using folder = await Folder.make();
  const path = folder.at("kvdrive.service");
  const args = ["install", "--data", "/srv/files", "--path", path];
  const written = await runCommand(args);
  assertEquals([written.code, written.stdout], [0, ""]);
  assertMatch(written.stderr, /useradd --system[^]*systemctl enable --now kvdrive\.service\n$/);
  assertEquals(await Deno.readTextFile(path), stdout);

  await Deno.writeTextFile(path, "mine");
  assertRefused(await runCommand(args), 1, /exists.*--force/);
  assertEquals(await Deno.readTextFile(path), "mine");
  assertEquals((await runCommand([...args, "--force"])).code, 0);
  assertEquals(await Deno.readTextFile(path), stdout);
});

Deno.test("A secret goes into a file that only its owner reads, and not into the unit.", async () => {
  await using folder = await Folder.make();
  const token = 'metrics-"$`\\-0123456789abcdef';
  const path = folder.at("kvdrive.service");
  const file = folder.at("etc/env");
  const args = ["install", "--data", "/srv/files", "--env-file", file, "--metrics-token"];
  const toFile = [...args, token, "--path", path];
  const { code, stdout, stderr } = await runCommand(toFile);
  assertEquals([code, stdout], [0, ""], stderr);
  assertMatch(
    stderr,
    /KVDRIVE_METRICS_TOKEN was written to \S+etc\/env, which only its owner can read/,
  );
  const unit = await Deno.readTextFile(path);
  assert(unit.includes(`EnvironmentFile=-${file}\n`), unit);
  const line = 'KVDRIVE_METRICS_TOKEN="metrics-\\"\\$\\`\\\\-0123456789abcdef"\n';
  assertEquals(await Deno.readTextFile(file), line);
  assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);

  await Deno.writeTextFile(file, `# mine\n\n${line}KVDRIVE_PORT=1\n`);
  assertEquals((await runCommand([...toFile, "--force"])).code, 0);
  assertEquals(await Deno.readTextFile(file), `# mine\n\nKVDRIVE_PORT=1\n${line}`);
  const other = [...args, "another-0123456789abcdef", "--path", folder.at("other.service")];
  assertRefused(await runCommand(other), 1, /has another value of KVDRIVE_METRICS_TOKEN: --force/);
  assert(!await folder.has("other.service"));
  assertEquals((await runCommand([...other, "--force"])).code, 0);
  const names = [...Deno.readDirSync(folder.at("etc"))].map(({ name }) => name);
  assertEquals(names, ["env"]);

  await Deno.chmod(file, 0o640);
  assertRefused(
    await runCommand([...other, "--force"]),
    1,
    /Other users can read the file .*chmod 600/,
  );

  const printed = await runCommand([...args, token]);
  assertEquals(printed.code, 0);
  assertMatch(printed.stderr, /Add KVDRIVE_METRICS_TOKEN to \S+etc\/env, .*mode 600/);
  for (const text of [stderr, unit, printed.stdout, printed.stderr]) {
    assert(!text.includes("0123456789abcdef"), text);
  }
});

Deno.test({
  name: "A program that the user of the unit cannot reach is warned of.",
  ignore: EXECUTABLE !== undefined || Deno.build.os === "windows",
  async fn() {
    // Not in a folder of the tests, which is closed to others itself.
    await using folder = new Folder(await Deno.makeTempDir({ dir: "/tmp" }));
    await Deno.mkdir(folder.at("bin"));
    const program = await folder.write("bin/kvdrive", "");
    for (const path of [folder.path, program]) await Deno.chmod(path, 0o755);
    const env = { KVDRIVE_LAUNCHER: program, KVDRIVE_PACKED: "" };
    const stderrAt = async (mode: number, ...more: string[]) => {
      await Deno.chmod(folder.at("bin"), mode);
      const { code, stderr } = await runCommand(["install", ...more], env);
      assertEquals(code, 0, stderr);
      return stderr;
    };
    assertEquals(await stderrAt(0o755), "");
    assertEquals(await stderrAt(0o711), "");
    assertMatch(
      await stderrAt(0o750),
      /^Warning: the user kvdrive cannot reach \S+bin\/kvdrive, as \S+\/bin is closed to it\./,
    );
    assertEquals(await stderrAt(0o700, "--user", "root"), "");
  },
});

Deno.test("A program in a cache is warned of, as its service would end with the cache.", async () => {
  await using folder = await Folder.make();
  const program = folder.at(".cache/npx/kvdrive");
  const env = { KVDRIVE_LAUNCHER: program, KVDRIVE_PACKED: "" };
  for (const more of [[], ["--path", folder.at("kvdrive.service")]]) {
    const { code, stderr } = await runCommand(["install", ...more], env);
    assertEquals(code, 0, stderr);
    // An executable says itself where it is.
    if (EXECUTABLE === undefined) {
      assert(stderr.includes(`Warning: ${program} is in a cache`), stderr);
    }
  }
});

Deno.test({
  name: "A Deno in a cache is warned of as well, whether the unit is printed or written.",
  // Other builds have no Deno of their own that a unit would name.
  ignore: EXECUTABLE !== undefined,
  async fn() {
    await using folder = await Folder.make();
    const deno = Deno.execPath();
    const env = { DENO_DIR: deno.slice(0, deno.lastIndexOf("/")) };
    for (const more of [[], ["--path", folder.at("kvdrive.service")]]) {
      const { code, stderr } = await runCommand(["install", ...more], env);
      assertEquals(code, 0, stderr);
      assert(stderr.includes(`Warning: ${deno} is in a cache`), stderr);
    }
  },
});

Deno.test("A unit that cannot be written, or would not start, is refused.", async () => {
  assertRefused(await runCommand(["install", "--path", "/missing/a.service"]), 1, /missing/);
  assertRefused(await runCommand(["install", "--port", "http"]), 2, /--port/);
  assertRefused(await runCommand(["install", "--data", "/tmp/files"]), 2, /\/tmp\/files/);
  assertRefused(await runCommand(["install", "now"]), 2, /now/);
});

Deno.test({
  name: "systemd understands every line of the unit, and finds little that it exposes.",
  // Without systemd there is nothing to check with.
  ignore: !await hasSystemd(),
  async fn() {
    await using folder = await Folder.make();
    for (const more of [[], ["--data", "/srv/100% my files", "--port", "443"]]) {
      const path = folder.at("kvdrive.service");
      const { code, stderr } = await runCommand(["install", "--path", path, "--force", ...more]);
      assertEquals(code, 0, stderr);
      assertEquals(await analyze("verify", "--man=no", path), "");
      const exposure = await analyze("security", "--offline=true", "--no-pager", path);
      const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(exposure) ?? [];
      assert(level !== undefined && Number(level) <= MAX_EXPOSURE, exposure);
    }
  },
});

async function analyze(...args: string[]): Promise<string> {
  const command = new Deno.Command("systemd-analyze", { args, stdin: "null" });
  const { stdout, stderr } = await command.output();
  return [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
}

async function hasSystemd(): Promise<boolean> {
  try {
    return (await new Deno.Command("systemd-analyze", { args: ["--version"] }).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path/join";
import config from "../deno.json" with { type: "json" };
import { pack } from "./pack.ts";
import { filesBelow } from "./package/parts.ts";
import { sha256Of } from "./package/workshop.ts";

/** Runs without a network, where this machine lets us take it away. */
const offline = await canDropNetwork() ? ["unshare", "--map-root-user", "--net"] : [];

Deno.test("One file has the runtime, the program and its packages inside, and needs nothing from elsewhere", async () => {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-pack-" });
  try {
    const out = join(folder, "dist");
    const path = await pack(out);
    const line = `${await sha256Of(path)}  kvdrive-packed\n`;
    assertEquals(await Deno.readTextFile(`${path}.sha256`), line);
    assertEquals(await filesBelow(out, "."), ["./kvdrive-packed", "./kvdrive-packed.sha256"]);

    const cache = join(folder, "cache");
    const said = await run([...offline, path, "version"], { KVDRIVE_RUNTIME_DIR: cache });
    assertEquals(said, `kvdrive ${config.version} (packed, deno ${Deno.version.deno})\n`);
    const unit = await run([path, "install"], { KVDRIVE_RUNTIME_DIR: cache });
    assertStringIncludes(unit, `ExecStart=:${path} serve`);
    assertInside(await filesBelow(cache, "."));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

function assertInside(paths: string[]): void {
  const app = paths.flatMap((path) => path.split(/^\.\/[0-9a-f]{64}\/app\//)[1] ?? []);
  for (const path of ["main.ts", "deno.json", "LICENSE", "src/dashboard/dist/index.html"]) {
    assert(app.includes(path), path);
  }
  assert(app.includes("src/store/maintenance/compact_worker.ts"));
  assert(app.includes("src/store/backup/backup_worker.ts"));
  const others = app.filter((path) =>
    /_test\.ts$|test_support|\/testing\//.test(path) || /^(tests|scripts|docs)\//.test(path)
  );
  assertEquals(others, []);
  // Packages are bundled, without those of tests and scripts.
  assert(app.includes("vendor/yauzl.js"), app.join());
  assertEquals(app.filter((path) => /node_modules|axe-core|playwright|ajv|deta/.test(path)), []);
}

async function run(
  [program, ...args]: string[],
  env: Record<string, string>,
): Promise<string> {
  const PATH = Deno.env.get("PATH") ?? "";
  const options = { args, clearEnv: true, env: { PATH, ...env } };
  const { code, stdout, stderr } = await new Deno.Command(program ?? "", options).output();
  assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
  return new TextDecoder().decode(stdout);
}

async function canDropNetwork(): Promise<boolean> {
  try {
    const args = ["--map-root-user", "--net", "true"];
    return (await new Deno.Command("unshare", { args }).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

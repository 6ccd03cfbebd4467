/**
 * Clients that generators make of `/openapi.json`, as docs/api.md tells to make them: they compile, and files go to a
 * server and come back. A test whose programs are missing is left out, and says so.
 */
import { assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";

/** The generator for many languages, which npm starts and which needs Java. */
const GENERATOR = ["npx", "-y", "@openapitools/openapi-generator-cli@2.41.0", "generate"];
const GENERATOR_VERSION = { "generator-cli": { version: "7.25.0" } };

/** What `use.py` and `use.ts` do with a client: a file goes to the server and comes back. */
const PYTHON = `
import importlib, pkgutil, sys
import openapi_client as kvdrive
for module in pkgutil.walk_packages(kvdrive.__path__, "openapi_client."):
    importlib.import_module(module.name)
origin, project, key = sys.argv[1:]
configuration = kvdrive.Configuration(host=origin, api_key={"ProjectKey": key})
with kvdrive.ApiClient(configuration) as client:
    files = kvdrive.FilesApi(client)
    where = {"project_id": project, "drive_name": "generated"}
    files.put_file(name="dir/a.bin", body=b"meow", **where)
    print(bytes(files.download_file(name="dir/a.bin", **where)).decode())
    print(files.list_files(details=True, **where).files[0].size)
    print([drive.drive_name for drive in files.list_drives(project, limit=1).drives])
    print(files.delete_files(names=["dir/a.bin"], **where).actual_instance.deleted)
`;

const TYPESCRIPT = `
import { Configuration, FilesApi } from "./client/index";
const [, , basePath, projectId = "", apiKey = ""] = process.argv;
const files = new FilesApi(new Configuration({ basePath, apiKey }));
const where = { projectId, driveName: "generated" };
await files.putFile({ ...where, name: "dir/a.bin", body: new Blob(["meow"]) });
console.log(await (await files.downloadFile({ ...where, name: "dir/a.bin" })).text());
console.log((await files.listFiles({ ...where, details: true })).files?.[0]?.size);
console.log((await files.listDrives({ projectId, limit: 1 })).drives.map((drive) => drive.driveName));
console.log((await files.deleteFiles({ ...where, names: ["dir/a.bin"] })).deleted.size);
`;

async function isThere(...programs: string[]): Promise<boolean> {
  for (const program of programs) {
    try {
      await new Deno.Command(program, { stdin: "null", stdout: "null", stderr: "null" }).output();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      const notice = `${program} is missing: its client is not tested\n`;
      await Deno.stdout.write(new TextEncoder().encode(notice));
      return false;
    }
  }
  return true;
}

/** Runs a program in a folder, and returns what it prints. */
async function run(cwd: string, [program = "", ...args]: string[]): Promise<string> {
  const command = new Deno.Command(program, { args, cwd, stdin: "null" });
  const { code, stdout, stderr } = await command.output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assertEquals(code, 0, `${program} ${args.join(" ")}\n${out}\n${err}`);
  return out ?? "";
}

/** Registers a test with a client of a server's description. */
function testClient(
  language: string,
  programs: string[],
  use: (folder: string, server: TestServer) => Promise<void>,
): void {
  Deno.test(`A client for ${language} is generated, and compiles.`, async () => {
    if (!await isThere("npx", "java", ...programs)) return;
    await using server = await TestServer.start();
    const folder = await Deno.makeTempDir({ prefix: "kvdrive-client-" });
    try {
      const description = await (await fetch(`${server.origin}/openapi.json`)).text();
      await Deno.writeTextFile(join(folder, "openapi.json"), description);
      const version = JSON.stringify(GENERATOR_VERSION);
      await Deno.writeTextFile(join(folder, "openapitools.json"), version);
      const options = ["-g", language, "-i", "openapi.json", "-o", "client"];
      await run(folder, [...GENERATOR, ...options]);
      await use(folder, server);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

testClient("python", ["python3"], async (folder, server) => {
  await run(folder, ["python3", "-m", "venv", "venv"]);
  await run(folder, ["venv/bin/pip", "install", "--quiet", "./client"]);
  await Deno.writeTextFile(join(folder, "use.py"), PYTHON);
  const output = await run(folder, [
    "venv/bin/python",
    ...["use.py", server.origin, PROJECT_ID, PROJECT_KEY],
  ]);
  assertEquals(output.split("\n"), ["meow", "4", "['generated']", "['dir/a.bin']", ""]);
});

testClient("typescript-fetch", ["node"], async (folder, server) => {
  await Deno.writeTextFile(join(folder, "use.ts"), TYPESCRIPT);
  await Deno.writeTextFile(join(folder, "package.json"), '{"type": "module"}');
  const npx = ["npx", "-y", "-p", "typescript@5.9.3", "-p", "esbuild@0.25.10"];
  const options = ["--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"];
  const types = ["--lib", "es2022,dom"];
  await run(folder, [...npx, "tsc", "--noEmit", ...options, ...types, "client/index.ts"]);
  await run(folder, [
    ...npx,
    "esbuild",
    "use.ts",
    "--bundle",
    "--platform=node",
    "--format=esm",
    "--outfile=use.mjs",
  ]);
  const output = await run(folder, ["node", "use.mjs", server.origin, PROJECT_ID, PROJECT_KEY]);
  assertEquals(output.split("\n"), ["meow", "4", "[ 'generated' ]", "1", ""]);
});

testClient("go", ["go"], async (folder) => {
  const client = join(folder, "client");
  // The tests that it generates need its final place in a repository.
  await Deno.remove(join(client, "test"), { recursive: true });
  await run(client, ["go", "mod", "tidy"]);
  await run(client, ["go", "vet", "./..."]);
});

Deno.test("Types for TypeScript are generated, and compile.", async () => {
  if (!await isThere("npx")) return;
  await using server = await TestServer.start();
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-client-" });
  try {
    const description = `${server.origin}/openapi.json`;
    await run(folder, [
      "npx",
      "-y",
      "openapi-typescript@7.13.0",
      description,
      "-o",
      "kvdrive.d.ts",
    ]);
    await run(folder, ["npx", "-y", "-p", "typescript@5.9.3", "tsc", "--noEmit", "kvdrive.d.ts"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { withFolder } from "../testing/stores.ts";
import { recordReader, sealValue, UnreadableEntries } from "./record_codec.ts";
import { isKnownSchema, SqliteReader } from "./sqlite_reader.ts";

/** How long npm may take to fetch Deno, in milliseconds. */
const PATIENCE = 180_000;

/** Runs the newest Deno that npm has. Returns what it printed; `undefined` if npm cannot be reached. */
async function runNewest(...args: string[]): Promise<string | undefined> {
  const signal = AbortSignal.timeout(PATIENCE);
  const command = new Deno.Command("npx", {
    args: ["-y", "deno@latest", ...args],
    env: { NO_COLOR: "1" },
    signal,
  });
  const { success, stdout, stderr } = await command.output().catch((error: unknown) => {
    if (error instanceof Deno.errors.NotFound) return NO_NPM;
    throw error;
  });
  const errors = new TextDecoder().decode(stderr);
  if (success) return new TextDecoder().decode(stdout);
  if (signal.aborted || UNREACHABLE.test(errors)) return undefined;
  throw new Error(errors);
}

/** How the output of npm, or the error of starting it, shows that there is no network or no npm. */
const UNREACHABLE =
  /^npm (?:error|ERR!) code (?:ECONN\w+|ENOTFOUND|EAI_AGAIN|E\w*TIMEDOUT|ERR_SOCKET_TIMEOUT)|npm is missing/m;

const NO_NPM = {
  success: false,
  stdout: new Uint8Array(),
  stderr: new TextEncoder().encode("npm is missing"),
};

Deno.test("The newest Deno makes stores whose tables are read with SQLite", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "store.db");
    const script = `const kv = await Deno.openKv(${JSON.stringify(path)});
      await kv.set(["a"], new Uint8Array(${JSON.stringify([...sealValue("text") as Uint8Array])}));
      await kv.atomic().sum(["n"], 3n).commit();
      console.log(Deno.version.deno);`;
    const version = await runNewest("eval", "--unstable-kv", script);
    if (version === undefined) {
      Deno.stderr.writeSync(new TextEncoder().encode("Left out: npm cannot be reached\n"));
      return;
    }
    assert(
      isKnownSchema(path),
      `Deno ${version.trim()} makes tables in another form: see KNOWN_SCHEMA in sqlite_reader.ts`,
    );
    using kv = await Deno.openKv(path);
    const unreadable = new UnreadableEntries();
    const options = { isMapped: false, unreadable };
    using reader = new SqliteReader(path, recordReader(kv, unreadable), options);
    assertEquals((await reader.get(["a"])).value, "text");
    assertEquals((await reader.get<Deno.KvU64>(["n"])).value?.value, 3n);
  });
});

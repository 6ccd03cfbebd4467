/**
 * The programs of `docs/embedding.md` work as they are, each in a folder of its own with the `deno.json` of the page.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import config from "./deno.json" with { type: "json" };
import { Folder, IS_OLDEST } from "./support/command.ts";
import { Page, ROOT_PATH } from "./support/cli/docs.ts";
import { PROJECT_ID, PROJECT_KEY } from "./support/server.ts";

const PAGE = await Page.read("docs/embedding.md");
const KEY = { "X-Api-Key": PROJECT_KEY };
const PERMISSIONS = ["--allow-read", "--allow-write", "--allow-env", "--allow-net"];

/** Returns the settings of the page, with the packages that the tests have. */
function settings(): string {
  const [block = ""] = PAGE.blocks("json deno.json");
  const { imports, ...others } = JSON.parse(block);
  const known = { hono: config.imports.hono, "@std/assert": config.imports["@std/assert"] };
  return JSON.stringify({ ...others, imports: { ...imports, ...known }, links: [ROOT_PATH] });
}

/** Writes a program of the page into a folder. Returns its path. */
async function write(folder: Folder, name: string, code?: string): Promise<string> {
  await Deno.writeTextFile(folder.at("deno.json"), settings());
  const [block = ""] = code === undefined ? PAGE.blocks(`ts ${name}`) : [code];
  assert(block !== "", `The page has no block ${name}`);
  await Deno.writeTextFile(folder.at(name), block);
  return folder.at(name);
}

function start(folder: Folder, args: string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args,
    cwd: folder.at(""),
    env: {
      ADMIN_TOKEN: "0123456789abcdefghijABCDEFGHIJ",
      PROJECT_KEY,
      DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0",
      // The runner's may be in /dev, where the runtime wants all permissions.
      TMPDIR: folder.at(""),
      NO_COLOR: "1",
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** Runs a program that ends by itself. */
async function run(folder: Folder, args: string[]): Promise<{ code: number; text: string }> {
  const { code, stdout, stderr } = await start(folder, args).output();
  const decoder = new TextDecoder();
  return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** Runs a program that listens, until the end of the test. */
async function withProgram(name: string, test: (origin: string) => Promise<void>): Promise<void> {
  await using folder = await Folder.makeOnDisk();
  const path = await write(folder, name);
  const process = start(folder, ["run", "--no-lock", "--no-prompt", ...PERMISSIONS, path]);
  let text = "";
  const address = Promise.withResolvers<string>();
  const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      text += piece;
      const [, origin] = /Listening on (http:\S+:\d+)/.exec(text) ?? [];
      if (origin !== undefined) address.resolve(origin);
    }
  };
  const collected = Promise.all([collect(process.stdout), collect(process.stderr)]);
  collected.then(() => address.reject(new Error(`The program ended: ${text}`)));
  try {
    await test(await address.promise);
  } finally {
    process.kill("SIGTERM");
    await collected;
    await process.status;
  }
  if (name === "plain.ts") assertEquals((await process.status).code, 0, text);
}

/** Stores a file and returns what its download answers. */
async function exchange(base: string): Promise<string> {
  const files = `${base}/v1/${PROJECT_ID}/photos/files`;
  const stored = await fetch(`${files}?name=a`, { method: "POST", headers: KEY, body: "Hello!" });
  await stored.body?.cancel();
  assertEquals(stored.status, 201);
  const { headers, status, ...response } = await fetch(`${files}/download?name=a`, { headers: KEY })
    .then(async (one) => ({ headers: one.headers, status: one.status, text: await one.text() }));
  assertEquals([status, headers.get("content-encoding")], [200, null]);
  return response.text;
}

async function statusOf(url: string): Promise<number> {
  const { status, body } = await fetch(url, { headers: KEY });
  await body?.cancel();
  return status;
}

const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, fn, ignore: IS_OLDEST });

test("the program with Deno.serve works, and ends after SIGTERM", async () => {
  await withProgram("plain.ts", async (origin) => {
    assertEquals(await exchange(origin), "Hello!");
  });
});

test("the program with Hono has the server below a path", async () => {
  await withProgram("hono.ts", async (origin) => {
    assertEquals(await exchange(`${origin}/files`), "Hello!");
    assertEquals(await (await fetch(`${origin}/`)).text(), "My program");
    const statuses = ["/files", "/files/", "/files/nothing", "/v1/x/y/files"]
      .map((path) => statusOf(origin + path));
    assertEquals(await Promise.all(statuses), [200, 200, 404, 404]);
  });
});

test("the program with two servers keeps them apart", async () => {
  await withProgram("two.ts", async (origin) => {
    assertEquals(await exchange(`${origin}/live`), "Hello!");
    const list = `${origin}/archive/v1/${PROJECT_ID}/photos/files`;
    assertEquals(await (await fetch(list, { headers: KEY })).json(), { names: [] });
    assertEquals(await exchange(`${origin}/archive`), "Hello!");
  });
});

test("a handler of Fresh gets requests as Fresh passes them", async () => {
  await using folder = await Folder.makeOnDisk();
  await write(folder, "fresh.ts");
  const path = await write(
    folder,
    "main.ts",
    `import { handler } from "./fresh.ts";
const info = { remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 }, completed: Promise.resolve() };
const req = new Request("http://localhost/files/v1/${PROJECT_ID}/photos/files", { headers: ${
      JSON.stringify(KEY)
    } });
console.log(await (await handler({ req, info })).text());`,
  );
  const { code, text } = await run(folder, ["run", "--no-lock", ...PERMISSIONS, path]);
  assertEquals([code, text.trim()], [0, '{"names":[]}']);
});

test("the program without a socket ends by itself", async () => {
  await using folder = await Folder.makeOnDisk();
  const path = await write(folder, "local.ts");
  const { code, text } = await run(folder, ["run", "--no-lock", ...PERMISSIONS, path]);
  assertEquals([code, text], [0, "A beach\n"]);
});

test("the test of a program passes", async () => {
  await using folder = await Folder.makeOnDisk();
  const path = await write(folder, "notes_test.ts");
  const { code, text } = await run(folder, ["test", "--no-lock", ...PERMISSIONS, path]);
  assertMatch(text, /1 passed/);
  assertEquals(code, 0, text);
});

test("every program of the page is run", () => {
  const names = PAGE.allBlocks().map(({ info }) => info).filter((info) => info.startsWith("ts"));
  assertEquals(names.toSorted(), [
    "ts fresh.ts",
    "ts hono.ts",
    "ts local.ts",
    "ts notes_test.ts",
    "ts plain.ts",
    "ts two.ts",
  ]);
  return Promise.resolve();
});

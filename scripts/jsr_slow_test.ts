import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import config from "../deno.json" with { type: "json" };
import { ROOT } from "./package/parts.ts";

/** A registry that has the package: it sends the sources as JSR does, from a web address. */
class Registry implements AsyncDisposable {
  readonly #server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, sendSource);

  get main(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/main.ts`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

async function sendSource(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const type = pathname.endsWith(".json") ? "application/json" : "text/typescript";
  const headers = { "Content-Type": type };
  return new Response(await Deno.readTextFile(`${ROOT}${pathname.slice(1)}`), { headers });
}

Deno.test("The package of JSR has the sources of the program and nothing else", async () => {
  const { code, text } = await deno(["publish", "--dry-run", "--allow-dirty", "--no-check"]);
  assertEquals(code, 0, text);
  const files = [...text.matchAll(/^ *file:\/\/(\S+)/gm)].map(([, path = ""]) =>
    path.slice(ROOT.length)
  );
  const besides = files.filter((path) => !/^src\/.*\.ts$/.test(path));
  assertEquals(besides.toSorted(), ["LICENSE", "README.md", "deno.json", "main.ts"]);
  const unwanted = /_test\.ts$|test_support|\/testing\/|^src\/dashboard\//;
  assertEquals(files.filter((path) => unwanted.test(path)), []);
});

Deno.test("It starts from a web address, without a dashboard", async () => {
  await using registry = new Registry();
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-jsr-" });
  try {
    const run = (args: string[]) => deno([...optionsOf(), registry.main, ...args]);
    const version = await run(["version"]);
    assertMatch(
      version.text,
      new RegExp(`kvdrive ${config.version} \\(from source, deno .*\\)\\n$`),
    );
    const start = `--unstable-kv --unstable-net --unstable-no-legacy-abort ${registry.main} serve`;
    assertStringIncludes((await run(["install"])).text, start);
    const process = new Deno.Command(Deno.execPath(), {
      args: [...optionsOf(), registry.main, "serve", "--port", "0", "--data", `${folder}/data`],
      cwd: ROOT,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    let text = "";
    let isStopped = false;
    for await (const piece of process.stdout.pipeThrough(new TextDecoderStream())) {
      text += piece;
      const [, origin] = /^kvdrive listening on (http\S+)$/m.exec(text) ?? [];
      if (isStopped || origin === undefined) continue;
      const answers = await Promise.all([fetch(`${origin}/healthz`), fetch(`${origin}/`)]);
      assertEquals(answers.map(({ status }) => status), [200, 404]);
      for (const { body } of answers) await body?.cancel();
      process.kill("SIGTERM");
      isStopped = true;
    }
    assertEquals((await process.status).code, 0, text);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** JSR replaces the names of packages by themselves; here the configuration says which they are. */
function optionsOf(): string[] {
  return ["run", "--no-prompt", "--no-check", "-A", "--no-lock", "--config", `${ROOT}deno.json`];
}

async function deno(args: string[]): Promise<{ code: number; text: string }> {
  const command = new Deno.Command(Deno.execPath(), {
    args,
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "null",
  });
  const { code, stdout, stderr } = await command.output();
  return { code, text: new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout) };
}

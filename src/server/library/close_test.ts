import { assert, assertEquals, assertLess, assertRejects, assertStringIncludes } from "@std/assert";
import { KvdriveError } from "../../client/mod.ts";
import { FolderLock } from "../../store/disk/file_lock.ts";
import type { OpenServer } from "./library.ts";
import { openServer } from "./open_server.ts";
import { FILES, KEY, send, withFolder, withServer } from "./test_support.ts";

/** A request with a body that begins, and then stalls until `end` or `fail` is called. */
function slowUpload(name: string) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isCancelled = false;
  const begun = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
      given.enqueue(new Uint8Array(200_000));
    },
    pull: () => begun.resolve(),
    cancel() {
      isCancelled = true;
    },
  });
  const request = new Request(`http://kv.example${FILES}?name=${name}`, {
    method: "POST",
    headers: { "X-Api-Key": KEY },
    body,
  });
  return {
    request,
    /** Resolves once the server has taken the beginning. */
    begun: begun.promise,
    end: () => controller?.close(),
    fail: () => controller?.error(new Error("The client left")),
    isCancelled: () => isCancelled,
  };
}

async function download({ fetch }: OpenServer, name: string): Promise<Response> {
  const headers = { "X-Api-Key": KEY };
  return await fetch(new Request(`http://kv.example${FILES}/download?name=${name}`, { headers }));
}

/** Reads a body. Returns the bytes before its end, and the error at its end, if any. */
async function drain(response: Response): Promise<[bytes: number, error: unknown]> {
  let bytes = 0;
  try {
    for await (const piece of response.body ?? []) bytes += piece.length;
    return [bytes, undefined];
  } catch (error) {
    return [bytes, error];
  }
}

Deno.test("a closed server answers 503, whatever is asked", async () => {
  await withServer({}, async (server) => {
    const first = server.close();
    assertEquals(server.close(), first);
    await first;
    await server.close();
    for (const path of ["/", FILES, "/healthz", "/nowhere"]) {
      const { status, headers, text } = await send(server, "GET", path);
      assertEquals([status, JSON.parse(text).code], [503, "shutting_down"], path);
      assert(headers.has("retry-after") && headers.has("x-request-id"));
    }
    assertEquals((await send(server, "HEAD", "/")).text, "");
    assertEquals((await send(server, "POST", `${FILES}?name=a`, { body: "a" })).status, 503);
    const began = performance.now();
    const put = () => server.connect().drive("d").put("a", "1");
    assertEquals((await assertRejects(put, KvdriveError)).code, "shutting_down");
    assertLess(performance.now() - began, 10_000);
  });
});

Deno.test("close waits for an upload that goes on, and refuses new ones", async () => {
  await withServer({}, async (server) => {
    const slow = slowUpload("a");
    const answer = server.fetch(slow.request);
    await slow.begun;
    const closing = server.close();
    assertEquals((await send(server, "POST", `${FILES}?name=b`, { body: "b" })).status, 503);
    slow.end();
    const { status, body } = await answer;
    await body?.cancel();
    assertEquals(status, 201);
    await closing;
  });
});

Deno.test("close ends an upload that stalls: the earlier version stays", async () => {
  await withFolder(async (data) => {
    const options = { data, projectKey: KEY };
    const server = await openServer({ ...options, shutdownTimeout: 100 });
    await server.connect().drive("d").put("a", "earlier");
    const slow = slowUpload("a");
    const answer = server.fetch(slow.request);
    await slow.begun;
    const began = performance.now();
    await server.close();
    assertLess(performance.now() - began, 15_000);
    const { status, text } = { status: (await answer).status, text: await (await answer).text() };
    assertEquals([status, JSON.parse(text).code], [503, "shutting_down"]);
    assert(slow.isCancelled());
    await using again = await openServer(options);
    assertEquals(await (await again.connect().drive("d").get("a"))?.text(), "earlier");
  });
});

Deno.test("close waits for a download that goes on, and ends one that stalls with an error", async () => {
  await withServer({ shutdownTimeout: 300 }, async (server) => {
    await server.connect().drive("d").put("a", new Uint8Array(3_000_000));
    const [quick, stalled, unread] = [
      await download(server, "a"),
      await download(server, "a"),
      await download(server, "a"),
    ];
    const reader = stalled?.body?.getReader();
    await reader?.read();
    const closing = server.close();
    assertEquals(await drain(quick as Response), [3_000_000, undefined]);
    await closing;
    await assertRejects(async () => {
      while (!(await reader?.read())?.done);
    });
    const [bytes, error] = await drain(unread as Response);
    assertLess(bytes, 3_000_000);
    assert(error instanceof Error);
  });
});

Deno.test("a body that breaks off stores nothing", async () => {
  await withServer({}, async (server) => {
    await server.connect().drive("d").put("a", "earlier");
    const slow = slowUpload("a");
    const answer = server.fetch(slow.request);
    await slow.begun;
    slow.fail();
    const { status, body } = await answer;
    await body?.cancel();
    assertEquals(status, 400);
    assertEquals(await (await server.connect().drive("d").get("a"))?.text(), "earlier");
  });
});

Deno.test("a body that the program has read before is no empty file", async () => {
  const lines: string[] = [];
  await withServer({ log: (line) => lines.push(line) }, async (server) => {
    const { request, end } = slowUpload("a");
    end();
    await request.arrayBuffer();
    const { status, body } = await server.fetch(request);
    await body?.cancel();
    assertEquals(status, 500);
    assertEquals(await server.connect().drive("d").get("a"), undefined);
  });
  assertStringIncludes(lines.join("\n"), "was read before the server got it");
});

Deno.test("a server of the runtime neither changes nor compresses bytes", async () => {
  await withServer({}, async (server) => {
    const text = "compressible ".repeat(10_000);
    await server.connect().drive("d").put("a.txt", text, { contentType: "text/plain" });
    const quiet = { port: 0, onListen: () => {} };
    await using runtime = Deno.serve(quiet, server.fetch);
    const url = `http://127.0.0.1:${runtime.addr.port}${FILES}/download?name=a.txt`;
    const headers = { "X-Api-Key": KEY, "Accept-Encoding": "gzip, br" };
    const response = await fetch(url, { headers });
    assertEquals(response.headers.get("content-encoding"), null);
    assertEquals(response.headers.get("content-length"), String(text.length));
    assertEquals(await response.text(), text);
  });
});

Deno.test("a store that another process replaces is refused, and nothing stays open", async () => {
  await withFolder(async (data) => {
    await (await openServer({ data, projectKey: KEY })).close();
    const lock = await FolderLock.take(data, "exclusive");
    await assertRejects(() => openServer({ data }), Error, "a backup is being restored there");
    lock?.[Symbol.dispose]();
    await using server = await openServer({ data });
    assertEquals((await send(server, "GET", FILES)).status, 200);
  });
});

/** Runs a program that imports the library. Returns its status and all that it prints. */
async function run(source: string, data: string): Promise<[status: number, output: string]> {
  const root = new URL("../../../", import.meta.url);
  const code = `import { openServer } from ${JSON.stringify(new URL("main.ts", root).href)};\n` +
    `const data = ${JSON.stringify(data)};\nconst projectKey = ${JSON.stringify(KEY)};\n${source}`;
  const file = `${data}.ts`;
  await Deno.writeTextFile(file, code);
  const config = new URL("deno.json", root);
  const { code: status, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "--config", config.pathname, "-A", file],
    signal: AbortSignal.timeout(120_000),
  }).output();
  const decoder = new TextDecoder();
  return [status, decoder.decode(stdout) + decoder.decode(stderr)];
}

const WORK = `
const server = await openServer({ data, projectKey });
const drive = server.connect().drive("d");
await drive.put("large", new Uint8Array(11_000_000));
const dropped = await server.fetch(new Request("http://kv.example/", { headers: { "X-Api-Key": projectKey } }));
const file = await drive.get("large");
await file.body.cancel();
`;

Deno.test("a program ends by itself and prints nothing, with close and without", async () => {
  await withFolder(async (folder) => {
    const programs = {
      closed: `${WORK} await server.close();`,
      open: WORK,
      failed: `await Deno.writeTextFile(data, ""); await openServer({ data }).catch(() => {});`,
      broken:
        `for (let i = 0; i < 2; i++) await openServer({ data, basePath: "x" }).catch(() => {});`,
    };
    const runs = Object.entries(programs).map(async ([name, source]) => [
      name,
      await run(source, `${folder}/${name}`),
    ]);
    for (const [name, result] of await Promise.all(runs)) {
      assertEquals(result, [0, ""], String(name));
    }
  });
});

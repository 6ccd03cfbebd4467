import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { MAX_WRONG_KEYS } from "../../http/network/wrong_keys.ts";
import type { OpenServer, OpenServerOptions } from "./library.ts";
import { openServer } from "./open_server.ts";
import { FILES, KEY, PROJECT, send, TOKEN, withFolder, withServer } from "./test_support.ts";

Deno.test("an open server stores and returns files", async () => {
  await withServer({}, async (server) => {
    const created = await send(server, "POST", `${FILES}?name=a.txt`, { body: "Hello!" });
    assertEquals(created.status, 201);
    const { status, text } = await send(server, "GET", `${FILES}/download?name=a.txt`);
    assertEquals([status, text], [200, "Hello!"]);
    const page = await send(server, "GET", "/");
    assertEquals([page.status, page.headers.get("content-type")], [
      200,
      "text/html; charset=utf-8",
    ]);
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const projects = await send(server, "GET", "/admin/v1/projects", { headers });
    assertStringIncludes(projects.text, PROJECT);
  });
});

Deno.test("its client needs no socket, and reaches drives of any name", async () => {
  await withServer({}, async ({ connect }) => {
    for (const name of ["photos", ".", ".."]) {
      const drive = connect().drive(name);
      await drive.put("../../a", name);
      assertEquals(await (await drive.get("../../a"))?.text(), name);
    }
    const large = new Uint8Array(12_000_000).fill(7);
    await connect(KEY).drive("photos").put("large", large);
    const file = await connect(KEY).drive("photos").get("large");
    assertEquals((await file?.bytes())?.length, large.length);
  });
  await withServer({ projectKey: undefined }, ({ connect }) => {
    const error = errorOf(() => connect());
    assert(error instanceof TypeError, String(error));
    return Promise.resolve();
  });
});

Deno.test("drives are network folders, below the base path, unless WebDAV is off", async () => {
  const info = (hostname: string) =>
    ({ remoteAddr: { transport: "tcp", hostname, port: 1 } }) as const;
  const path = `/base/dav/${PROJECT}/d/`;
  const sent = async (
    { fetch }: OpenServer,
    method: string,
    name: string,
    from: string | undefined = "127.0.0.1",
  ) => {
    const headers = { Authorization: `Basic ${btoa(`any:${KEY}`)}` };
    const body = method === "PUT" ? "Hello!" : undefined;
    const request = new Request(`http://kv.example${path}${name}`, {
      method,
      headers,
      ...body === undefined ? {} : { body },
    });
    const response = await fetch(request, ...from === "" ? [] : [info(from)]);
    return [response.status, await response.text()] as const;
  };
  const basePath = "/base";
  await withServer({ basePath }, async (server) => {
    assertEquals((await sent(server, "MKCOL", ""))[0], 201);
    assertEquals((await sent(server, "PUT", "._a"))[0], 201);
    assertEquals(await sent(server, "GET", "._a"), [200, "Hello!"]);
    assertStringIncludes((await sent(server, "PROPFIND", ""))[1], `<D:href>${path}._a</D:href>`);
    for (const from of ["192.0.2.7", ""]) {
      assertEquals((await sent(server, "GET", "._a", from))[0], 403);
    }
  });
  await withServer({ basePath, webdavPlain: true, webdavNoJunk: true }, async (server) => {
    for (const from of ["192.0.2.7", ""]) {
      assertEquals((await sent(server, "GET", "a", from))[0], 404);
    }
    assertEquals((await sent(server, "MKCOL", ""))[0], 201);
    assertEquals((await sent(server, "PUT", "._a"))[0], 403);
  });
  await withServer({ basePath, webdav: false }, async (server) => {
    assertEquals((await sent(server, "GET", ""))[0], 404);
  });
});

Deno.test("two servers of one program have nothing in common", async () => {
  await withServer({}, async (first) => {
    await withServer({}, async (second) => {
      await first.connect().drive("d").put("a", "1");
      await second.connect().drive("d").put("b", "2");
      assertEquals((await send(first, "GET", FILES)).text, '{"names":["a"]}');
      assertEquals((await send(second, "GET", FILES)).text, '{"names":["b"]}');
      await useUpAllowance(first);
      assertEquals(await sendWrongKey(first), 429);
      assertEquals(await sendWrongKey(second), 401);
      await first.close();
      assertEquals((await send(second, "GET", FILES)).status, 200);
    });
  });
});

Deno.test("two servers on one folder see the same files", async () => {
  await withFolder(async (data) => {
    await using first = await openServer({ data, projectKey: KEY });
    await using second = await openServer({ data });
    await first.connect().drive("d").put("a", "1");
    assertEquals(await (await second.connect(KEY).drive("d").get("a"))?.text(), "1");
    await first.close();
    await second.connect(KEY).drive("d").put("a", "2");
    await second.close();
    await using third = await openServer({ data });
    assertEquals(await (await third.connect(KEY).drive("d").get("a"))?.text(), "2");
  });
});

Deno.test("clients without an address share one allowance of wrong keys, and a right key always works", async () => {
  await withServer({ trustedProxy: ["10.0.0.0/8"] }, async (server) => {
    await useUpAllowance(server);
    assertEquals(await sendWrongKey(server), 429);
    // Whatever a client without an address claims.
    assertEquals(await sendWrongKey(server, { "X-Forwarded-For": "192.0.2.7" }), 429);
    assertEquals((await send(server, "GET", FILES)).status, 200);
    const info = { remoteAddr: { transport: "tcp", hostname: "192.0.2.7", port: 1 } } as const;
    const request = new Request(`http://kv.example${FILES}`, { headers: { "X-Api-Key": WRONG } });
    assertEquals((await server.fetch(request, info)).status, 401);
  });
});

Deno.test("anything in place of what Deno.serve passes is an unknown client", async () => {
  await withServer({}, async ({ fetch }) => {
    for (const info of [null, 7, "x", {}, { remoteAddr: "x", completed: 1 }, { remoteAddr: {} }]) {
      const request = new Request("http://kv.example/healthz");
      assertEquals((await fetch(request, info as never)).status, 200, Deno.inspect(info));
    }
  });
});

Deno.test("an open Deno.Kv can be the store, and stays open", async () => {
  await withFolder(async (folder) => {
    const { openKv } = Deno;
    using kv = await openKv(`${folder}/store.db`);
    const server = await openServer({ kv, projectKey: KEY });
    await server.connect().drive("d").put("a", new Uint8Array(200_000));
    await server.close();
    assertEquals((await kv.get(["format"])).versionstamp !== null, true);
    await using again = await openServer({ kv });
    const file = await again.connect(KEY).drive("d").get("a");
    assertEquals((await file?.bytes())?.length, 200_000);
  });
});

Deno.test("a closed Deno.Kv, or a folder that is none, is refused", async () => {
  await withFolder(async (folder) => {
    const { openKv } = Deno;
    const kv = await openKv(`${folder}/store.db`);
    kv.close();
    await assertRejects(() => openServer({ kv }), Error, "Cannot open the store");
    const data = `${folder}/file`;
    await Deno.writeTextFile(data, "");
    await assertRejects(() => openServer({ data }), Error, `Cannot open the store in ${data}`);
    await Deno.remove(data);
    await (await openServer({ data })).close();
  });
});

Deno.test("options that are not valid are refused with their name, and nothing is created", async () => {
  const cases: [options: unknown, says: string][] = [
    [undefined, "needs an object"],
    [{}, "needs a store"],
    [{ data: "x", kv: "https://kv.example" }, "exclude each other"],
    [{ data: 7 }, "The option data must be a string"],
    [{ data: "" }, "The option data is empty"],
    [{ kv: "not a url" }, "Bad value of kv"],
    [{ kv: "ftp://kv.example" }, "Bad value of kv"],
    [{ adminToken: "short" }, "adminToken is too short"],
    [{ adminToken: 7 }, "The option adminToken must be a string"],
    [{ projectKey: "nonsense" }, "Bad value of projectKey"],
    [{ projectKey: "" }, "The option projectKey is empty"],
    [{ basePath: "files" }, 'Bad value "files" of basePath'],
    [{ basePath: "/a/../b" }, "of basePath"],
    [{ basePath: "/a;b" }, "of basePath"],
    [{ basePath: "//a" }, "of basePath"],
    [{ basePath: "/a", s3Domain: "s3.example.com" }, "basePath and s3Domain exclude each other"],
    [{ maxUploads: 0 }, 'Bad value "0" of maxUploads'],
    [{ maxUploads: true }, "The option maxUploads cannot be"],
    [{ memoryBudget: "1kB" }, "of memoryBudget"],
    [{ idleTimeout: -5 }, 'Bad value "-5ms" of idleTimeout'],
    [{ uploadTtl: Infinity }, "of uploadTtl"],
    [{ publicUrl: "https://a.example/path" }, "of publicUrl"],
    [{ publicUrl: "https://a.example", shareHost: "a.example" }, "publicUrl and shareHost"],
    [{ reads: "quickly" }, "of reads"],
    [{ log: "loud" }, "The option log must be"],
    [{ dashboard: 1 }, "The option dashboard must be"],
    [{ s3Secret: "abc" }, "Bad value of s3Secret"],
    [{ port: 8000 }, 'openServer has no option "port"'],
  ];
  await withFolder(async (folder) => {
    const data = `${folder}/data`;
    for (const [given, says] of cases) {
      const isPlace = given === undefined || Object.keys(given as object).length === 0 ||
        Object.hasOwn(given as object, "data") || Object.hasOwn(given as object, "kv");
      const options = isPlace ? given : { data, ...given as object };
      const open = () => openServer(options as OpenServerOptions);
      const { message } = await assertRejects(open, TypeError, says, Deno.inspect(given));
      assert(!/--|KVDRIVE_/.test(message), message);
    }
    assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  });
});

Deno.test("times and sizes are numbers or texts", async () => {
  const options = { uploadTtl: 3_600_000, idleTimeout: "30s", memoryBudget: "64MiB" };
  await withServer({ ...options, diskReserve: 0, scrubEvery: "off" }, async (server) => {
    await server.connect().drive("d").put("a", "1");
  });
});

Deno.test("each line of the log goes to the function, whose failures do no harm", async () => {
  const lines: string[] = [];
  const log = (line: string) => {
    lines.push(line);
    throw new Error("The log is broken");
  };
  await withServer({ log }, async (server) => {
    assertEquals((await send(server, "GET", FILES)).status, 200);
  });
  const [line = "", ...others] = lines;
  assertEquals([JSON.parse(line).status, others], [200, []]);
});

Deno.test("without the dashboard there is no page", async () => {
  await withServer({ dashboard: false }, async (server) => {
    assertEquals((await send(server, "GET", "/")).status, 404);
    assertEquals((await send(server, "GET", FILES)).status, 200);
  });
});

const WRONG = `${PROJECT}_wrongwrongwrongwrongwrong`;

async function sendWrongKey(server: OpenServer, headers: Record<string, string> = {}) {
  const sent = await send(server, "GET", FILES, { headers: { ...headers, "X-Api-Key": WRONG } });
  return sent.status;
}

async function useUpAllowance(server: OpenServer): Promise<void> {
  for (let i = 0; i < MAX_WRONG_KEYS; i++) await sendWrongKey(server);
}

function errorOf(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

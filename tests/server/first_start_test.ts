import { assert, assertEquals, assertMatch } from "@std/assert";
import { Answer } from "../support/answer.ts";
import { findCurlLine, parseCurlLine } from "../support/cli/curl_line.ts";
import { Folder } from "../support/command.ts";
import { LaunchedServer } from "../support/launch.ts";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";

/** A project key: an id without `_`, and a secret without `_` of at least 128 random bits. */
const KEY = /(?<![\w-])([A-Za-z0-9-]{1,64})_[A-Za-z0-9]{22,}(?![\w-])/;
const TOKEN = /token\b\W+([\w-]{22,})/i;

interface Secrets {
  id: string;
  key: string;
  token: string;
}

Deno.test("The first start prints the project, its key, the token and a curl line.", async () => {
  await using folder = await Folder.make();
  await using server = await start(folder);
  const { id, key, token } = findSecrets(server.text);
  assertMatch(server.text, new RegExp(`(?<![\\w-])${id}(?![\\w-])`));
  assertEquals((await usage(server, id, { "X-Api-Key": key })).status, 200);
  const project = await get(`${server.origin}/admin/v1/projects/${id}`, { "X-Api-Key": key });
  const { name, trash_days } = project.expect(200).json as Record<string, unknown>;
  assertEquals([name, trash_days], ["My files", 0]);
  assert(token !== key.split("_")[1], "The token is the project's secret");
});

Deno.test("Without a terminal too, the first start prints a link that signs in once.", async () => {
  await using folder = await Folder.make();
  await using server = await start(folder);
  const [, place, code] = /(http\S+)\/#code=(\w+)/.exec(server.text) ?? [];
  assertEquals(place, server.origin);
  assert(!server.text.includes("\x1b["), server.text);
  for (const status of [200, 401]) {
    const answer = await fetch(`${place}/dashboard/session`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: `${place}` },
      body: JSON.stringify({ secret: code }),
    });
    await answer.body?.cancel();
    assertEquals(answer.status, status);
  }
});

Deno.test("The printed curl line uploads a file without changes.", async () => {
  await using folder = await Folder.make();
  await using server = await start(folder);
  const { id, key } = findSecrets(server.text);
  const line = findCurlLine(server.text);
  const { method, url, headers, body } = parseCurlLine(line);
  assertEquals(headers.get("X-Api-Key"), key);
  await sendLine(line, folder);
  const after = (await usage(server, id, { "X-Api-Key": key })).json as {
    drives: { drive_name: string; files: number; bytes: number }[];
  };
  assertEquals(after.drives.map(({ files }) => files), [1]);
  assertEquals(after.drives[0]?.bytes, new TextEncoder().encode(body).length);
  assertEquals(method, "POST");
  const download = url.replace("/files?", "/files/download?");
  assertEquals((await get(download, { "X-Api-Key": key })).expect(200).text, body);
});

Deno.test("A second start prints no secret, and the first one's key still works.", async () => {
  await using folder = await Folder.make();
  const secrets = await (async () => {
    await using server = await start(folder);
    const found = findSecrets(server.text);
    assertEquals((await server.stop()).code, 0);
    return found;
  })();
  await using server = await start(folder);
  assertEquals((await usage(server, secrets.id, { "X-Api-Key": secrets.key })).status, 200);
  assert(!KEY.test(server.text), server.text);
  assert(!server.text.includes(secrets.token), server.text);
  assert(!/\bcurl\b|#code=/.test(server.text), server.text);
});

Deno.test("Two first starts make different secrets.", async () => {
  const found: Secrets[] = [];
  for (let i = 0; i < 2; i++) {
    await using folder = await Folder.make();
    await using server = await start(folder);
    found.push(findSecrets(server.text));
  }
  const [one, other] = found;
  assert(one?.key.split("_")[1] !== other?.key.split("_")[1]);
  assert(one?.token !== other?.token);
});

Deno.test("KVDRIVE_PROJECT_KEY is the key of a project and is never printed.", async () => {
  await using folder = await Folder.make();
  const secret = PROJECT_KEY.slice(PROJECT_ID.length + 1);
  for (let round = 0; round < 2; round++) {
    await using server = await start(folder, { KVDRIVE_PROJECT_KEY: PROJECT_KEY });
    assertEquals((await usage(server, PROJECT_ID, { "X-Api-Key": PROJECT_KEY })).status, 200);
    const wrong = { "X-Api-Key": `${PROJECT_KEY}x` };
    assertEquals((await usage(server, PROJECT_ID, wrong)).status, 401);
    assertEquals((await server.stop()).code, 0);
    assert(!server.text.includes(secret), server.text);
  }
});

Deno.test("KVDRIVE_ADMIN_TOKEN takes the place of the made token and is never printed.", async () => {
  await using folder = await Folder.make();
  const token = "a-token-of-the-administrator-0123456789";
  for (let round = 0; round < 2; round++) {
    await using server = await start(folder, { KVDRIVE_ADMIN_TOKEN: token });
    assertEquals((await server.stop()).code, 0);
    assert(!server.text.includes(token), server.text);
    assert(!TOKEN.test(server.text), server.text);
  }
});

async function start(folder: Folder, env: Record<string, string> = {}): Promise<LaunchedServer> {
  const server = await LaunchedServer.start(
    ["serve", "--port", "0", "--data", folder.at("data")],
    env,
  );
  // What is printed after the ready line has arrived by the time that a request is answered.
  await get(`${server.origin}/v1/any`, {});
  return server;
}

function findSecrets(text: string): Secrets {
  const [key, id] = KEY.exec(text) ?? [];
  const token = TOKEN.exec(text)?.[1];
  assert(key !== undefined && id !== undefined && token !== undefined, text);
  return { id, key, token };
}

/** Runs the line in a shell; on a machine without curl, sends what it says. */
async function sendLine(line: string, folder: Folder): Promise<void> {
  const shell = new Deno.Command("sh", {
    args: ["-c", `command -v curl >/dev/null || exit 127; ${line}`],
    cwd: folder.path,
  });
  const { code, stdout, stderr } = await shell.output();
  const decoder = new TextDecoder();
  if (code !== 127) {
    assertEquals(code, 0, decoder.decode(stderr));
    assertMatch(decoder.decode(stdout), /"drive_name"/);
    return;
  }
  const { url, method, headers, body } = parseCurlLine(line);
  const init = { method, headers, ...(body === undefined ? {} : { body }) };
  (await Answer.of(await fetch(url, init))).expect(201);
}

async function usage(
  server: LaunchedServer,
  id: string,
  headers: Record<string, string>,
): Promise<Answer> {
  return await get(`${server.origin}/v1/${id}`, headers);
}

async function get(url: string, headers: Record<string, string>): Promise<Answer> {
  return await Answer.of(await fetch(url, { headers }));
}

Deno.test("The permissions that the start task grants are enough.", async () => {
  const text = await Deno.readTextFile(new URL("../../deno.json", import.meta.url));
  const config = JSON.parse(text) as { tasks: { start: { command: string } } };
  const [, options] = /deno run (.*) main\.ts serve$/.exec(config.tasks.start.command) ?? [];
  assert(options !== undefined && !/-A|--allow-all/.test(options), config.tasks.start.command);
  await using folder = await Folder.makeOnDisk();
  await using server = await TestServer.start({
    runtime: options.split(" "),
    data: folder.at("data"),
  });
  const uploaded = await server.fetch("drive", "/files?name=a", { method: "POST", body: "a" });
  assertEquals(uploaded.status, 201, await uploaded.text());
  assertEquals((await server.stop("SIGTERM")).code, 0);
});

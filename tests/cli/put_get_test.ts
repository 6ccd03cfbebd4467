import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { equals } from "@std/bytes/equals";
import { ClientWorkspace, filesBelow, RunningCommand, someBytes } from "../support/cli/client.ts";
import { Proxy } from "../support/cli/proxy.ts";
import { Folder, runCommand } from "../support/command.ts";
import { PROJECT_KEY, TestServer } from "../support/server.ts";
import { TlsFiles } from "../support/tls.ts";

Deno.test("A file goes to a drive and comes back, byte for byte and with its type.", async () => {
  await using desk = await ClientWorkspace.open();
  const bytes = someBytes(3_000_000);
  await desk.folder.write("cat.png", bytes);
  const sent = await desk.json<Record<string, unknown>>("put", "cat.png", "photos:pets/");
  assertEquals(sent.map(({ name, size }) => [name, size]), [["pets/cat.png", bytes.byteLength]]);
  assert(equals(await desk.stored("photos", "pets/cat.png") ?? new Uint8Array(), bytes));
  const [fact] = await desk.json<{ content_type: string }>("stat", "photos:pets/cat.png");
  assertEquals(fact?.content_type, "image/png");
  await desk.text("get", "photos:pets/cat.png", "back.png");
  assert(equals(await Deno.readFile(desk.folder.at("back.png")), bytes));
  await desk.text("put", "cat.png", "photos:other", "--type", "text/x-cat");
  const [other] = await desk.json<{ content_type: string }>("stat", "photos:other");
  assertEquals(other?.content_type, "text/x-cat");
});

Deno.test("A file keeps its modification time there and back.", async () => {
  await using desk = await ClientWorkspace.open();
  const mtime = new Date(Date.UTC(2001, 1, 3, 4, 5, 6, 789));
  for (const [name, size] of [["small", 9], ["large", 11_000_000]] as const) {
    await desk.folder.write(name, someBytes(size));
    await Deno.utime(desk.folder.at(name), mtime, mtime);
    await desk.text("put", name, "d:");
    const [facts] = await desk.json<{ mtime: string }>("stat", `d:${name}`);
    assertEquals(facts?.mtime, mtime.toISOString());
    await desk.text("get", `d:${name}`, "back");
    assertEquals((await Deno.stat(desk.folder.at("back"))).mtime, mtime);
    assertEquals(await desk.text("get", `d:${name}`, "back"), "back is up to date\n");
    await Deno.remove(desk.folder.at("back"));
  }
});

Deno.test("Folders go both ways, with or without their own name.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const path of ["zoo", "zoo/birds"]) await Deno.mkdir(desk.folder.at(path));
  await desk.folder.write("zoo/a b.txt", "1");
  await desk.folder.write("zoo/birds/owl.txt", "22");
  await Deno.symlink("/etc/passwd", desk.folder.at("zoo/link"));
  const run = await desk.run(["put", "zoo", "d:in/"]);
  assertEquals([run.code, run.stdout], [1, "Sent 2 files (3 B)\n"]);
  assertMatch(
    run.stderr,
    /^skipped: d:in\/zoo\/link: it is a symbolic link\nkvdrive: .*--exclude\n$/,
  );
  const rest = await desk.run(["put", "zoo", "d:in/", "--exclude", "link"]);
  assertEquals([rest.code, rest.stderr], [0, ""]);
  await desk.text("put", "zoo/", "d:", "--exclude", "link");
  const listed = await desk.json<{ name: string }>("ls", "d", "--recursive");
  const names = ["a b.txt", "birds/owl.txt", "in/zoo/a b.txt", "in/zoo/birds/owl.txt"];
  assertEquals(listed.map(({ name }) => name), names);
  await desk.text("get", "d:in/", "out");
  const files = [["zoo/a b.txt", "1"], ["zoo/birds/owl.txt", "22"]] as const;
  assertEquals([...await filesBelow(desk.folder.at("out"))], files.map((one) => [...one]));
  // Done again, nothing is fetched.
  assertMatch(await desk.text("get", "d:in/", "out"), /^Fetched 0 files .*; 2 files up to date/);
});

Deno.test("Pipes are sent like standard input, and need a name.", async () => {
  await using desk = await ClientWorkspace.open();
  const pipe = desk.folder.at("pipe");
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  const bytes = someBytes(11_000_000);
  const sending = desk.start(["put", "pipe", "d:x"]);
  const written = Deno.writeFile(pipe, bytes);
  assertEquals((await sending.finished()).stderr, "");
  await written;
  assert(equals(await desk.stored("d", "x") ?? new Uint8Array(), bytes));
  const input = new TextEncoder().encode("hello");
  const sent = await desk.run(["put", "/dev/stdin", "d:y"], { input });
  assertEquals([sent.code, sent.stdout, sent.stderr], [0, "Sent 1 file (5 B)\n", ""]);
  assertEquals(await desk.stored("d", "y"), input);
  const cases: [args: string[], code: number, says: RegExp][] = [
    [["put", "pipe", "d:"], 2, /A pipe needs a file name: end the command with DRIVE:NAME/],
    [["mv", "pipe", "d:x"], 2, /A pipe cannot be moved/],
    [["put", "/dev/null", "d:x"], 1, /it is not a regular file/],
  ];
  for (const [args, code, says] of cases) {
    const run = await desk.run(args);
    assertEquals(run.code, code, run.stderr);
    assertMatch(run.stderr, says);
  }
});

Deno.test("A file that is there is not replaced, unless that is asked for.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "a", "new");
  await desk.folder.write("a", "old");
  const refused = await desk.run(["get", "d:a"]);
  assertEquals([refused.code, refused.stdout], [1, ""]);
  assertMatch(refused.stderr, /^kvdrive: Another file a exists: --force replaces it\n$/);
  assertEquals(await Deno.readTextFile(desk.folder.at("a")), "old");
  await desk.text("get", "d:a", "--force");
  assertEquals(await Deno.readTextFile(desk.folder.at("a")), "new");
  // The same bytes are no other file.
  assertEquals(await desk.text("get", "d:a"), "a is up to date\n");
  const other = await desk.run(["put", "a", "d:a", "--new"]);
  assertEquals(other.code, 1);
  assertMatch(other.stderr, /failed: d:a: Another file/);
});

Deno.test("Files are listed and deleted.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const name of ["a", "b/c", "b/d", "e"]) await desk.store("d", name, "x");
  assertMatch(await desk.text("ls"), /^ +4 {2}4 files {2}d\n$/);
  assertMatch(await desk.text("ls", "d"), /^ +1 {2}\S+Z {2}a\n +b\/\n +1 {2}\S+Z {2}e\n$/);
  const few = await desk.json<{ name: string }>("ls", "d:b/");
  assertEquals(few.map(({ name }) => name), ["b/c", "b/d"]);
  const folder = await desk.run(["rm", "d:b/", "--yes"]);
  assertEquals(folder.code, 2);
  assertEquals(await desk.text("rm", "d:b/", "-r", "--yes"), "Deleted 2 files\n");
  const missing = await desk.run(["rm", "d:a", "d:never", "--yes"]);
  assertEquals([missing.code, missing.stdout], [1, "Deleted 1 file\n"]);
  assertStringIncludes(missing.stderr, "kvdrive: There is no file d:never\n");
  const none = await desk.run(["rm", "d:*.tmp", "--yes"]);
  assertEquals([none.code, none.stderr], [1, "kvdrive: No file matches d:*.tmp\n"]);
  const left = await desk.json<{ name: string }>("ls", "d:");
  assertEquals(left.map(({ name }) => name), ["e"]);
  const unasked = await desk.run(["rm", "d:e"]);
  assertEquals(unasked.code, 2);
  assertMatch(unasked.stderr, /--yes/);
});

Deno.test("An invalid command line is refused in one sentence without the key.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.folder.write("a", "x");
  const cases: { args: string[]; env?: Record<string, string>; code: number; says: RegExp }[] = [
    { args: ["put", "a"], code: 2, says: /usage: kvdrive put SOURCE/ },
    { args: ["put", "a", "photos"], code: 2, says: /DRIVE:NAME/ },
    { args: ["put", "a", "a", "d:b"], code: 2, says: /end the command with DRIVE:FOLDER\// },
    { args: ["put", "a", ":b"], code: 2, says: /drive name/ },
    { args: ["put", "-", "d:"], code: 2, says: /needs a file name/ },
    { args: ["get", "d:b/", "-"], code: 2, says: /single file/ },
    { args: ["get", "d:nothing"], code: 1, says: /There is no file d:nothing/ },
    { args: ["get", "d:nothing/"], code: 1, says: /There are no files in d:nothing\// },
    { args: ["ls", "d:nothing"], code: 1, says: /There is no drive "d"/ },
    { args: ["ls", "--retry-for", "soon"], code: 2, says: /--retry-for/ },
    { args: ["ls"], env: { KVDRIVE_KEY: "" }, code: 2, says: /KVDRIVE_KEY/ },
    { args: ["ls"], env: { KVDRIVE_KEY: "nonsense" }, code: 1, says: /project key must look like/ },
    { args: ["ls"], env: { KVDRIVE_KEY: `${PROJECT_KEY}x` }, code: 1, says: /not known/ },
    { args: ["ls"], env: { KVDRIVE_URL: "ftp://x" }, code: 1, says: /address/ },
    { args: ["ls", "--key-file", "none"], code: 2, says: /--key-file/ },
  ];
  for (const { args, env = {}, code, says } of cases) {
    const run = await desk.run(args, { env });
    assertEquals([run.code, run.stdout], [code, ""], `${args.join(" ")}: ${run.stderr}`);
    assertMatch(run.stderr, says);
    assertMatch(run.stderr, /^kvdrive: [^\n]+\n$/);
    assert(!run.stderr.includes(PROJECT_KEY), run.stderr);
  }
});

Deno.test("Drives and folders that do not exist are no empty lists.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "a", "x");
  await desk.server.fetch("d", "/folders", { method: "POST", body: '{"name":"kept/"}' });
  const cases: [args: string[], code: number, says: RegExp][] = [
    [["ls", "none"], 1, /There is no drive "none"/],
    [["du", "none"], 1, /There is no drive "none"/],
    [["find", "none:"], 1, /There is no drive "none"/],
    [["ls", "d:none"], 1, /There are no files with the prefix d:none/],
    [["ls", "d:none/"], 1, /There is no folder d:none\//],
    [["du", "d:none/"], 1, /There is no folder d:none\//],
    [["find", "d:", "--name", "none"], 0, /^$/],
    [["ls", "d:kept/"], 0, /There are no files in d:kept\//],
  ];
  for (const [args, code, says] of cases) {
    const run = await desk.run(args);
    assertEquals([run.code, run.stdout], [code, ""], args.join(" "));
    assertMatch(run.stderr, says);
  }
  await desk.text("rm", "d:a", "--yes");
  await desk.server.fetch("d", "/folders", { method: "DELETE", body: '{"name":"kept/"}' });
  const empty = await desk.run(["ls", "d"]);
  assertEquals([empty.code, empty.stderr], [0, "kvdrive: There are no files in the drive d\n"]);
});

Deno.test("A drive with a colon is named by itself, and the key may be in a file.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.folder.write("a", "x");
  await desk.folder.write("key", `${PROJECT_KEY}\n`);
  const env = { KVDRIVE_KEY: "" };
  const run = await desk.run(["put", "--drive", "a:b", "--key-file", "key", "a", "n:m"], { env });
  assertEquals([run.code, run.stderr], [0, ""]);
  assertEquals(await desk.stored("a:b", "n:m"), new TextEncoder().encode("x"));
  assertEquals(await desk.text("get", "--drive", "a:b", "n:m", "-"), "x");
});

Deno.test("The key is sent only to the named server, with a warning if the connection is not encrypted.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  await using elsewhere = Proxy.start(desk.server.origin);
  proxy.intercept = (request) => {
    const { pathname } = new URL(request.url);
    return Response.redirect(elsewhere.origin + pathname, 307);
  };
  const run = await desk.run(["ls"], { url: proxy.origin });
  assertEquals([run.code, elsewhere.seen.length], [1, 0]);
  assertMatch(run.stderr, /the key is not sent there/);
  const open = await desk.run(["ls"], { url: `http://0.0.0.0:${desk.server.port}` });
  assertEquals(open.code, 0);
  assertMatch(
    open.stderr,
    /^kvdrive: Warning: the key is sent to http:\/\/0\.0\.0\.0:\d+ unencrypted[^\n]*\n$/,
  );
});

Deno.test("Over https the server's authority has to be one that is believed.", async () => {
  await using files = await TlsFiles.make();
  await using folder = await Folder.make();
  await using server = await TestServer.start({ args: files.args });
  const env = { KVDRIVE_URL: `https://localhost:${server.port}`, KVDRIVE_KEY: PROJECT_KEY };
  await folder.write("a", "x");
  const run = (args: string[], more: Record<string, string> = {}) =>
    new RunningCommand(args, { ...env, ...more }, folder.path, undefined).finished();
  const put = await run(["put", "a", "d:", "--cacert", files.authority]);
  assertEquals([put.code, put.stderr], [0, ""]);
  const got = await run(["get", "d:a", "-"], { DENO_CERT: files.authority });
  assertEquals([got.code, got.stdout], [0, "x"], got.stderr);
  const refused = await run(["get", "d:a", "-"]);
  assertEquals([refused.code, refused.stdout], [1, ""]);
  assertMatch(refused.stderr, /^kvdrive: The certificate of \S+ is not trusted: [^\n]*--cacert/);
});

Deno.test("The permissions of the task that runs commands are enough.", async () => {
  await using desk = await ClientWorkspace.open(await Folder.makeOnDisk());
  await desk.folder.write("a", someBytes(11_000_000));
  const config = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  const task = (config as { tasks: { kvdrive: { command: string } } }).tasks.kvdrive.command;
  const runtime = task.split(" ").filter((word) => /^--(allow|no-prompt)/.test(word));
  const data = desk.server.data;
  for (const args of [["put", "a", "d:"], ["get", "d:a", "b"], ["export", "x.zip"]]) {
    const paths = args.map((arg) => ["a", "b", "x.zip"].includes(arg) ? desk.folder.at(arg) : arg);
    const run = await runCommand(paths, desk.env(), runtime);
    assertEquals([run.code, run.stderr], [0, ""], args.join(" "));
  }
  const args = ["import", desk.folder.at("x.zip"), "--data", data];
  const run = await runCommand(args, desk.env(), runtime);
  assertEquals([run.code, run.stderr], [0, ""]);
});

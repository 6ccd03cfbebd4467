import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Folder, runCommand } from "../support/command.ts";
import { TestServer } from "../support/server.ts";
import {
  PROJECT_KEY,
  REMOVED_WITHIN,
  ShopStore,
  statusWith,
  StoreCommands,
  TIME,
  waitUntilKnown,
} from "../support/store/commands.ts";

interface NewProject {
  project_id: string;
  name: string | null;
  created: string;
  max_bytes: number | null;
  project_key: string;
  prefix: string;
}

interface Projects {
  projects: { project_id: string; name: string | null; files: number; bytes: number }[];
}

Deno.test("The first project creates the store and reports it.", async () => {
  await using folder = await Folder.make();
  const data = folder.at("deep/data");
  const run = await runCommand(["project", "create", "My shop"], { KVDRIVE_DATA: data });
  assertEquals([run.code, run.stderr], [0, `Created a new store in ${data}.\n`]);
  const id = /^Project id: +([a-z0-9]{12})$/m.exec(run.stdout)?.[1] ?? "";
  const key = /^Project key: +(\S+)$/m.exec(run.stdout)?.[1] ?? "";
  assertEquals(PROJECT_KEY.exec(key)?.[1], id);
  assertStringIncludes(run.stdout, "shown only once");
  const [row] = await new StoreCommands(data).rows("project", "list");
  assertEquals(row?.slice(0, 4), [id, "My shop", "0", "0"]);
});

Deno.test("A new project's key is shown with what it is listed by.", async () => {
  await using shop = await ShopStore.make();
  const made = await shop.json<NewProject>("project", "create", "Books & more", "--id", "B-2");
  const { project_id, name, created, project_key, prefix } = made;
  assertEquals(Object.keys(made).length, 8);
  assertEquals([project_id, name], ["B-2", "Books & more"]);
  assertMatch(created, TIME);
  assertMatch(project_key, /^B-2_[A-Za-z0-9]{32}$/);
  const [row] = await shop.rows("key", "list", "B-2");
  assertEquals(row?.slice(0, 5), [prefix, "-", created, "all", "all"]);
  assert(!(await shop.text("project", "list")).includes(project_key));
});

Deno.test("An existing id is refused, and its project does not change.", async () => {
  await using shop = await ShopStore.make();
  const before = await shop.json("project", "list");
  await shop.refused(1, /"shop" already/, "project", "create", "Other", "--id", "shop");
  assertEquals(await shop.json("project", "list"), before);
  assertEquals((await shop.rows("key", "list", "shop")).length, 1);
});

Deno.test("A project that is made beside a running server opens at once.", async () => {
  await using server = await TestServer.start();
  const commands = new StoreCommands(server.data);
  const { project_key } = await commands.json<NewProject>("project", "create");
  assertEquals(await statusWith(server, project_key), 200);
});

Deno.test("A limit is set with the project, changed, and lifted.", async () => {
  await using server = await TestServer.start();
  const commands = new StoreCommands(server.data);
  const args = ["--id", "small", "--max-bytes", "1.5kB"];
  const made = await commands.json<NewProject>("project", "create", ...args);
  assertEquals(made.max_bytes, 1500);
  const put = async (name: string, size: number) => {
    const headers = { "X-Api-Key": made.project_key };
    const init = { method: "POST", body: new Uint8Array(size), headers };
    const answer = await fetch(`${server.origin}/v1/small/drive/files?name=${name}`, init);
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals([await put("a", 1500), await put("b", 1)], [201, 507]);
  const change = ["project", "change", "small", "--max-bytes"];
  const { created: _, ...changed } = await commands.json<NewProject>(...change, "2KiB");
  const drives = [{ drive_name: "drive", files: 1, bytes: 1500 }];
  const trash = { trash_days: 0, trash_files: 0, trash_bytes: 0 };
  const usage = { files: 1, bytes: 1500, open_upload_bytes: 0, ...trash };
  const holds = { project_id: "small", name: null, ...usage, drives };
  assertEquals(changed as unknown, {
    ...{ ...holds, max_bytes: 2048, max_files: null, host_suffix: null },
  });
  assertEquals([await put("b", 548), await put("c", 1)], [201, 507]);
  assertMatch(
    await commands.text(...change, "1kB"),
    /holds 2\.0 kB \(2048 bytes\) of 1\.0 kB \(1000 bytes\)\.\n.*over the limit/,
  );
  assertEquals((await commands.rows("project", "list"))[0]?.slice(2, 5), ["2", "2048", "1000"]);
  assertMatch(
    await commands.text(...change, "none"),
    /2\.0 kB \(2048 bytes\), without a limit\.\n$/,
  );
  assertEquals([await put("c", 5000), (await commands.rows("project", "list"))[0]?.[4]], [
    201,
    "-",
  ]);
  await commands.refused(1, /no project "other"/, "project", "change", "other", "--max-bytes", "1");
});

Deno.test("The number of files is limited with the project, changed, and lifted.", async () => {
  await using server = await TestServer.start();
  const commands = new StoreCommands(server.data);
  type Limited = { max_files: number | null };
  const made = await commands.json<Limited>("project", "create", "--id", "few", "--max-files", "5");
  assertEquals(made.max_files, 5);
  const change = ["project", "change", "few", "--max-files"];
  assertEquals((await commands.json<Limited>(...change, "70")).max_files, 70);
  assertMatch(await commands.text("project", "show", "few"), /It has 0 of 70 files\.\n/);
  assertEquals((await commands.json<Limited>(...change, "none")).max_files, null);
  for (const wrong of ["0", "-1", "1.5", "many"]) {
    await commands.refused(2, /max-files.* whole number from 1 on, or none/, ...change, wrong);
  }
});

Deno.test("A project is allowed a domain for its host names, and loses it.", async () => {
  await using server = await TestServer.start();
  const commands = new StoreCommands(server.data);
  const { project_key } = await commands.json<NewProject>("project", "create", "--id", "small");
  const change = ["project", "change", "small", "--host-suffix"];
  assertMatch(await commands.text(...change, "Apps.Example.com"), /below apps\.example\.com\.\n$/);
  const shown = async () => {
    const headers = { "X-Api-Key": project_key };
    const answer = await fetch(`${server.origin}/admin/v1/projects/small`, { headers });
    return ((await answer.json()) as { host_suffix: string | null }).host_suffix;
  };
  assertEquals(await shown(), "apps.example.com");
  // One setting leaves the other as it is.
  const limited = await commands.json<{ max_bytes: number; host_suffix: string }>(
    ...["project", "change", "small", "--max-bytes", "1kB"],
  );
  assertEquals([limited.max_bytes, limited.host_suffix], [1000, "apps.example.com"]);
  const both = ["project", "change", "small", "--host-suffix", "none", "--max-bytes", "none"];
  const without = await commands.json<{ max_bytes: null; host_suffix: null }>(...both);
  assertEquals([without.max_bytes, without.host_suffix, await shown()], [null, null, null]);
});

Deno.test("The list shows the usage of each project, as the server does.", async () => {
  const token = "a-token-of-the-administrator-0123456789";
  await using server = await TestServer.start({ env: { KVDRIVE_ADMIN_TOKEN: token } });
  for (const name of ["a", "b"]) {
    const init = { method: "POST", body: "12345" };
    const stored = await server.fetch("drive", `/files?name=${name}`, init);
    assertEquals(stored.status, 201, await stored.text());
  }
  const commands = new StoreCommands(server.data);
  await commands.json("project", "create", "Überholt", "--id", "second");
  const listed = await commands.json<Projects>("project", "list");
  const holds = listed.projects.map(({ project_id, name, files, bytes }) => {
    return [project_id, name, files, bytes];
  });
  assertEquals(holds, [["second", "Überholt", 0, 0], ["test-project", null, 2, 10]]);
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.origin}/admin/v1/projects`, { headers });
  // The disk changes with everything else that runs on it, and commands do not look at the bytes of files.
  const { disk: _, integrity: __, ...rest } = await answer.json();
  assertEquals(rest, listed);
});

Deno.test("A list without projects prints a sentence.", async () => {
  await using folder = await Folder.make();
  const commands = new StoreCommands(folder.at("data"));
  assertEquals((await commands.run("admin-token", "reset", "--yes")).code, 0);
  assertEquals(await commands.text("project", "list"), "There are no projects.\n");
  assertEquals(await commands.json("project", "list"), { projects: [] });
});

Deno.test("A deleted project is gone, and its id is free when the running server has removed it.", async () => {
  await using server = await TestServer.start();
  const commands = new StoreCommands(server.data);
  const { project_key } = await commands.json<NewProject>("project", "create", "--id", "gone");
  const init = { method: "POST", body: "x", headers: { "X-Api-Key": project_key } };
  const url = `${server.origin}/v1/gone/drive/files?name=a`;
  assertEquals((await fetch(url, init)).status, 201);
  assertEquals(await commands.json("project", "delete", "gone", "--yes"), { project_id: "gone" });
  await waitUntilKnown(async () => await statusWith(server, project_key) === 401);
  await commands.refused(1, /no project "gone"/, "project", "delete", "gone", "--yes");
  await commands.refused(1, /no project "gone"/, "key", "list", "gone");
  const remake = () => commands.run("project", "create", "--id", "gone", "--json");
  await waitUntilKnown(async () => (await remake()).code === 0, REMOVED_WITHIN);
  assertEquals(await statusWith(server, project_key), 401);
});

Deno.test("Deleting a project prints that the server removes its bytes.", async () => {
  await using shop = await ShopStore.make();
  const text = await shop.text("project", "delete", "shop", "-y");
  assertMatch(text, /^The project shop is deleted\. The server removes .*\.\n$/);
  assertEquals(await shop.text("project", "list"), "There are no projects.\n");
});

const REFUSED: readonly { args: string[]; code?: number; says: RegExp }[] = [
  { args: ["create", "one", "two"], says: /Too many arguments.*kvdrive project create \[NAME\]/ },
  { args: ["create", "--id", "my_shop"], says: /--id must be a project id/ },
  { args: ["create", "--id", "x".repeat(65)], says: /--id must be a project id/ },
  { args: ["create", " "], says: /NAME is blank/ },
  { args: ["create", "a\x1b[31mb"], says: /NAME has a control character/ },
  { args: ["create", "x".repeat(129)], says: /NAME has 129 characters/ },
  { args: ["create", "--max-bytes", "10G"], says: /--max-bytes .*must be .* like 500MB/ },
  { args: ["create", "--max-bytes", "none"], says: /--max-bytes .*must be .* like 500MB/ },
  {
    args: ["change", "shop"],
    says:
      /Nothing to change: give --max-bytes, --max-files, --host-suffix, --trash-days or --change-days/,
  },
  {
    args: ["change", "shop", "--host-suffix", "com"],
    code: 1,
    says: /"host_suffix" is a public suffix/,
  },
  {
    args: ["change", "shop", "--host-suffix", "127.0.0.1"],
    code: 1,
    says: /"host_suffix" must be/,
  },
  { args: ["change", "--max-bytes", "1GB"], says: /ID is missing/ },
  { args: ["change", "shop", "--max-bytes", "0"], says: /--max-bytes .*must be .*, or none/ },
  { args: ["change", "shop", "--max-bytes", "null"], says: /--max-bytes .*must be .*, or none/ },
  { args: ["change", "my_shop", "--max-bytes", "1GB"], says: /ID must be a project id/ },
  { args: ["create", "--yes"], says: /--yes.*kvdrive project create \[NAME\]/ },
  { args: ["list", "shop"], says: /Too many arguments.*kvdrive project list/ },
  { args: ["delete"], says: /ID is missing.*kvdrive project delete ID \[--yes\]/ },
  { args: ["delete", "shop"], says: /without a terminal.*--yes/ },
  { args: ["delete", "my_shop", "--yes"], says: /ID must be a project id/ },
];

Deno.test("An invalid command line is refused and changes nothing.", async () => {
  await using shop = await ShopStore.make();
  const before = await shop.json("project", "list");
  for (const { args, code = 2, says } of REFUSED) {
    await shop.refused(code, says, "project", ...args);
  }
  assertEquals(await shop.json("project", "list"), before);
});

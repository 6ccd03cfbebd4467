import { assertEquals, assertMatch } from "@std/assert";
import { Project } from "../support/admin.ts";
import { ClientWorkspace, someBytes } from "../support/cli/client.ts";
import { Proxy } from "../support/cli/proxy.ts";

const PART = 10 * 2 ** 20;

/** A project with a quota of 25 MiB in which 5 MiB are used. */
async function smallProject(desk: ClientWorkspace): Promise<Project> {
  const project = await Project.make(desk.server, { max_bytes: 2.5 * PART });
  await desk.folder.write("used", someBytes(PART / 2));
  const put = await desk.run(["put", "used", "d:"], { env: { KVDRIVE_KEY: project.key } });
  assertEquals([put.code, put.stderr], [0, ""]);
  return project;
}

async function usageOf(project: Project): Promise<{ bytes: number; open_upload_bytes: number }> {
  return (await project.call("GET", "")).expect(200).json as {
    bytes: number;
    open_upload_bytes: number;
  };
}

Deno.test("A file that does not fit into the quota is refused before its first part is sent.", async () => {
  await using desk = await ClientWorkspace.open();
  const project = await smallProject(desk);
  await using proxy = Proxy.start(desk.server.origin);
  await desk.folder.write("film", someBytes(3 * PART));
  const options = { url: proxy.origin, env: { KVDRIVE_KEY: project.key } };
  const { code, stderr } = await desk.run(["put", "film", "d:"], options);
  assertEquals(code, 1);
  assertMatch(stderr, /^kvdrive: The file has 31 MB, .*room for 21 MB: delete files[^\n]*\n$/);
  assertEquals(proxy.count("POST", /./), 0);
  await desk.folder.write("clip", someBytes(PART + PART / 2));
  assertEquals((await desk.run(["put", "clip", "d:"], options)).code, 0);
});

Deno.test("An upload that the server refuses is aborted, so that its bytes no longer count.", async () => {
  await using desk = await ClientWorkspace.open();
  const project = await smallProject(desk);
  // Such a key does not learn the quota.
  const { project_key } = await project.makeKey({ permissions: ["write", "list", "read"] });
  await desk.folder.write("film", someBytes(3 * PART));
  const env = { KVDRIVE_KEY: project_key };
  const input = await Deno.readFile(desk.folder.at("film"));
  for (const options of [{ env }, { env, input }]) {
    const source = "input" in options ? "-" : "film";
    const { code, stderr } = await desk.run(["put", source, "d:film"], options);
    assertEquals(code, 1);
    assertMatch(stderr, /cannot take \d+ MB more/);
    const { bytes, open_upload_bytes } = await usageOf(project);
    assertEquals([bytes, open_upload_bytes], [PART / 2, 0], source);
  }
});

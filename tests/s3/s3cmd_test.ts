/**
 * s3cmd, with a configuration file as in `docs/s3.md`.
 *
 * @module
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { assertTree, programTest, runProgram, sampleFolders, succeed } from "./support/programs.ts";
import type { S3Site } from "./support/site.ts";

function configuration(site: S3Site): string {
  const { host, protocol } = new URL(site.endpoint);
  return `[default]
access_key = ${site.keys.accessKeyId}
secret_key = ${site.keys.secretAccessKey}
host_base = ${host}
host_bucket = ${host}
use_https = ${protocol === "https:" ? "True" : "False"}
${site.authority === undefined ? "" : `ca_certs_file = ${site.authority}\n`}`;
}

programTest("s3cmd", async (site, step) => {
  await using folders = await sampleFolders();
  const { from, to, tree } = folders;
  await site.folder.write(".s3cfg", configuration(site));
  const s3cmd = (...args: string[]) => succeed(site, ["s3cmd", "--no-progress", ...args]);

  await step("a bucket is made and listed", async () => {
    await s3cmd("mb", "s3://cmd");
    assertMatch(await s3cmd("ls"), /s3:\/\/cmd$/m);
    assertStringIncludes(await s3cmd("info", "s3://cmd"), "FULL_CONTROL");
  });

  await step("a folder is synchronized there and back, in parts where it is large", async () => {
    await s3cmd("sync", `${from}/`, "s3://cmd/sync/");
    await s3cmd("sync", "s3://cmd/sync/", `${to}/`);
    await assertTree(to, tree);
    const again = await s3cmd("sync", `${from}/`, "s3://cmd/sync/");
    assertEquals(again.includes("upload:"), false, again);
  });

  await step("one object, with metadata and a type", async () => {
    await s3cmd(
      ...["put", "--mime-type=text/x-test", "--add-header=x-amz-meta-colour:red"],
      ...[`${from}/small.txt`, "s3://cmd/a+b é.txt"],
    );
    const info = await s3cmd("info", "s3://cmd/a+b é.txt");
    assertStringIncludes(info, "text/x-test");
    assertStringIncludes(info, "x-amz-meta-colour: red");
    await s3cmd("get", "--force", "s3://cmd/a+b é.txt", `${to}/got`);
    assertEquals(await Deno.readTextFile(`${to}/got`), "Hello, world\n");
    await s3cmd("modify", "--add-header=x-amz-meta-colour:blue", "s3://cmd/a+b é.txt");
    assertStringIncludes(await s3cmd("info", "s3://cmd/a+b é.txt"), "x-amz-meta-colour: blue");
  });

  await step("objects are copied, moved, listed and measured", async () => {
    await s3cmd("cp", "s3://cmd/a+b é.txt", "s3://cmd/copy");
    await s3cmd("mv", "s3://cmd/copy", "s3://cmd/moved");
    const listed = await s3cmd("ls", "s3://cmd/");
    assertMatch(listed, /DIR +s3:\/\/cmd\/sync\//);
    assertMatch(listed, / 13 +s3:\/\/cmd\/moved$/m);
    assertMatch(await s3cmd("du", "s3://cmd/moved"), /^ *13 +1 objects/m);
  });

  await step("an upload in parts that was left is listed and aborted", async () => {
    assertStringIncludes(await s3cmd("multipart", "s3://cmd"), "s3://cmd");
  });

  await step("a bucket is removed with everything in it", async () => {
    await s3cmd("del", "--recursive", "--force", "s3://cmd/");
    await s3cmd("rb", "s3://cmd");
    assertEquals((await runProgram(site, ["s3cmd", "ls", "s3://cmd"])).code, 12);
  });
});

/**
 * The AWS CLI with its default settings.
 *
 * @module
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { assertTree, programTest, runProgram, sampleFolders, succeed } from "./support/programs.ts";
import type { S3Site } from "./support/site.ts";

programTest("aws", async (site, step) => {
  await using folders = await sampleFolders();
  const { from, to, tree } = folders;
  const aws = (...args: string[]) => succeed(site, ["aws", ...args]);
  const json = async (...args: string[]) => JSON.parse(await aws(...args, "--output", "json"));

  await step("a bucket is made and listed", async () => {
    await aws("s3", "mb", "s3://cli");
    assertMatch(await aws("s3", "ls"), / cli$/m);
  });

  await step("a folder is copied there and back", async () => {
    await aws("s3", "cp", "--recursive", "--only-show-errors", from, "s3://cli/copy");
    await aws("s3", "cp", "--recursive", "--only-show-errors", "s3://cli/copy", to);
    await assertTree(to, tree);
    const listed = await aws("s3", "ls", "--recursive", "s3://cli/copy/");
    assertEquals(listed.trimEnd().split("\n").length, Object.keys(tree).length);
    assertStringIncludes(await aws("s3", "ls", "s3://cli/copy/"), "PRE folder/");
  });

  await step("a second synchronization transfers nothing, a third what changed", async () => {
    await aws("s3", "sync", "--only-show-errors", from, "s3://cli/sync");
    assertEquals(await aws("s3", "sync", from, "s3://cli/sync"), "");
    await Deno.writeTextFile(`${from}/small.txt`, "Changed");
    await Deno.remove(`${from}/empty`);
    const output = await aws("s3", "sync", "--delete", "--no-progress", from, "s3://cli/sync");
    assertEquals(output.trimEnd().split("\n").length, 2, output);
    await aws("s3", "sync", "--delete", "--only-show-errors", "s3://cli/sync", to);
    const { empty: _, ...rest } = tree;
    await assertTree(to, { ...rest, "small.txt": new TextEncoder().encode("Changed") });
  });

  await step("objects are moved and removed", async () => {
    await aws("s3", "mv", "s3://cli/sync/folder/large.bin", "s3://cli/moved é.bin");
    const head = await json("s3api", "head-object", "--bucket", "cli", "--key", "moved é.bin");
    assertEquals(head.ContentLength, tree["folder/large.bin"]?.length);
    assertMatch(head.ETag, /^"[0-9a-f]{32}(-\d+)?"$/);
    await aws("s3", "rm", "--recursive", "--only-show-errors", "s3://cli/sync");
    assertEquals((await runProgram(site, ["aws", "s3", "ls", "s3://cli/sync/"])).code, 1);
  });

  await step("standard input and output", async () => {
    const script = "printf piped | aws s3 cp - s3://cli/piped && aws s3 cp s3://cli/piped -";
    assertEquals(await succeed(site, ["sh", "-c", script]), "piped");
  });

  await step("a presigned address", async () => {
    const url = (await aws("s3", "presign", "s3://cli/piped", "--expires-in", "60")).trim();
    const trusted = site.authority === undefined ? [] : ["--cacert", site.authority];
    assertEquals(await succeed(site, ["curl", "-sSf", ...trusted, url]), "piped");
  });

  await step("the plain operations", () => plainOperations(site, to));

  await step("a bucket is removed with everything in it", async () => {
    await aws("s3", "rb", "--force", "s3://cli");
    assertEquals((await aws("s3", "ls")).includes(" cli\n"), false);
  });
});

/** The commands of `aws s3api`, on one object. */
async function plainOperations(site: S3Site, folder: string): Promise<void> {
  const json = async (...args: string[]) =>
    JSON.parse(await succeed(site, ["aws", ...args, "--output", "json"]));
  const object = ["--bucket", "cli", "--key", "plain"];
  await succeed(site, ["sh", "-c", `printf plain > ${folder}/plain`]);
  const put = await json(
    ...["s3api", "put-object", ...object, "--body", `${folder}/plain`],
    ...[
      "--metadata",
      "one=1,two=2",
      "--content-type",
      "text/x",
      "--checksum-algorithm",
      "SHA256",
    ],
  );
  assertMatch(put.ChecksumSHA256, /=$/);
  const head = await json("s3api", "head-object", ...object, "--checksum-mode", "ENABLED");
  assertEquals([head.Metadata, head.ContentType], [{ one: "1", two: "2" }, "text/x"]);
  assertEquals(head.ChecksumSHA256, put.ChecksumSHA256);
  const attributes = await json(
    ...["s3api", "get-object-attributes", ...object],
    ...["--object-attributes", "ObjectSize", "ETag"],
  );
  assertEquals([attributes.ObjectSize, `"${attributes.ETag}"`], [5, head.ETag]);
  const again = ["put-object", ...object, "--body", `${folder}/plain`, "--if-none-match", "*"];
  const refused = await runProgram(site, ["aws", "s3api", ...again]);
  assertStringIncludes(refused.stderr, "PreconditionFailed");
}

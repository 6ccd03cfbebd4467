/**
 * restic, which keeps backups in many objects that it never changes.
 *
 * @module
 */
import { assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../support/command.ts";
import { assertTree, programTest, sampleFolders, succeed } from "./support/programs.ts";

programTest("restic", async (site, step) => {
  await using folders = await sampleFolders();
  const { from, tree } = folders;
  await using target = await Folder.make();
  const env = {
    RESTIC_REPOSITORY: `s3:${site.endpoint}/backups/of this machine`,
    RESTIC_PASSWORD: "secret",
  };
  const trust = site.authority === undefined ? [] : ["--cacert", site.authority];
  const restic = (...args: string[]) =>
    succeed(site, ["restic", ...trust, ...args], { env, cwd: from });

  await step("a repository is made in a bucket that it creates", async () => {
    assertMatch(await restic("init"), /created restic repository/);
  });

  await step("two backups are kept", async () => {
    await restic("backup", ".");
    await Deno.writeTextFile(`${from}/more.txt`, "more");
    await restic("backup", ".");
    const snapshots = JSON.parse(await restic("snapshots", "--json"));
    assertEquals(snapshots.length, 2);
  });

  await step("a check reads all data", async () => {
    assertMatch(await restic("check", "--read-data"), /no errors were found/);
  });

  await step("what is forgotten is pruned", async () => {
    await restic("forget", "--keep-last", "1", "--prune");
    assertEquals(JSON.parse(await restic("snapshots", "--json")).length, 1);
    assertMatch(await restic("check", "--read-data"), /no errors were found/);
  });

  await step("a restored backup has the same files", async () => {
    await restic("restore", "latest", "--target", target.path);
    await assertTree(target.path, { ...tree, "more.txt": new TextEncoder().encode("more") });
  });

  await step("a lock that was left is removed", async () => {
    await restic("unlock", "--remove-all");
    await restic("rebuild-index");
    assertMatch(await restic("check"), /no errors were found/);
  });
});

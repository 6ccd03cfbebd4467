import { assertEquals, assertRejects } from "@std/assert";
import { RepositoryError } from "../../repository/errors.ts";
import { Repository } from "../../repository/repository.ts";
import { RepositoryBackups } from "./repository_backups.ts";

Deno.test("a repository that a server has seen is missed, and not made again", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const repository = { target: `${folder}/repository`, passphrase: "a passphrase" };
    const store = crypto.randomUUID();
    await Repository.openFor(store, repository);
    const backups = new RepositoryBackups({
      folder,
      repository,
      bandwidth: undefined,
      retention: {},
      onNotice: () => {},
      onError: () => {},
    });
    const newest = () => backups.newest(Date.now());
    assertEquals(await newest(), undefined);
    await Deno.rename(repository.target, `${folder}/away`);
    await assertRejects(newest, RepositoryError, "is gone");
    await Repository.openFor(store, repository);
    await assertRejects(newest, RepositoryError, "Another repository");
    await Deno.remove(repository.target, { recursive: true });
    await Deno.rename(`${folder}/away`, repository.target);
    assertEquals(await newest(), undefined);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

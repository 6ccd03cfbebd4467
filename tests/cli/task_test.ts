import { assertEquals, assertMatch } from "@std/assert";
import { dirname } from "@std/path/dirname";
import { environment, EXECUTABLE, Folder, MAIN, namesIn } from "../support/command.ts";

Deno.test({
  name: "`deno task kvdrive` works in the folder it is called from",
  ignore: EXECUTABLE !== undefined,
  async fn() {
    await using folder = await Folder.makeOnDisk();
    const config = `${dirname(MAIN)}/deno.json`;
    const words = ["project", "create", "--id", "shop", "--data", "my files"];
    // `deno task` keeps an earlier value, as of the task that runs this test.
    const { INIT_CWD: _earlier, ...env } = environment({});
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["task", "--quiet", "--config", config, "kvdrive", ...words],
      cwd: folder.path,
      clearEnv: true,
      env,
    }).output();
    assertEquals(code, 0);
    assertMatch(new TextDecoder().decode(stdout), /^Project id: {3}shop\n/);
    assertEquals(await namesIn(folder.path), ["my files"]);
  },
});

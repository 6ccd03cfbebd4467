import { assertEquals } from "@std/assert";
import { ClientWorkspace } from "../support/cli/client.ts";
import { completeLine, isInstalled, SHELLS } from "../support/cli/shells.ts";
import { Folder } from "../support/command.ts";

/** What is typed, with Tabs, and what the program is called with. */
const LINES: readonly (readonly [typed: string, args: readonly string[]])[] = [
  ["kvdrive uplo\tab\tphotos:ca\t", ["upload", "abort", "photos:cats.jpg"]],
  ["kvdrive ls pho\t", ["ls", "photos:"]],
  // The file "local.txt" of this folder is in no drive.
  ["kvdrive get photos:lo\t", ["get", "photos:loft.txt"]],
  ["kvdrive stat photos:pet\tmy\t", ["stat", "photos:pets/my dog.jpg"]],
  ["kvdrive put --ty\ttext/plain loc\tphotos:", [
    "put",
    "--type",
    "text/plain",
    "local.txt",
    "photos:",
  ]],
];

for (const shell of SHELLS) {
  Deno.test({
    name: `Tab completes commands, options, drives and names in a real ${shell.name}`,
    ignore: !await isInstalled(shell.name) || !await isInstalled("script"),
    async fn() {
      await using desk = await ClientWorkspace.open();
      await desk.store("photos", "cats.jpg", "meow");
      await desk.store("photos", "loft.txt", "hay");
      await desk.store("photos", "pets/my dog.jpg", "wuff");
      for (const [typed, args] of LINES) {
        await using folder = await Folder.make();
        await folder.write("local.txt", "");
        assertEquals(await completeLine(shell, typed, folder, desk.env()), args, typed);
      }
    },
  });
}

Deno.test("A server that does not answer offers no names, and takes no longer than 2 seconds", async () => {
  await using desk = await ClientWorkspace.open();
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const began = performance.now();
  const url = `http://127.0.0.1:${silent.addr.port}`;
  const { code, stdout, stderr } = await desk.run(["complete", "--", "ls", "photos:"], { url });
  assertEquals([code, stdout, stderr], [0, "", ""]);
  assertEquals(performance.now() - began < 20_000, true);
});

import { assertEquals, assertStringIncludes } from "@std/assert";
import { Folder } from "../support/command.ts";
import { openSection, signInAsAdministrator, signInAsOwner } from "./support/desk.ts";
import { stories } from "./support/stories.ts";

const CLIENTS = ["curl", "JavaScript", "Python", "Go"];

const story = stories("Connect");

/** Runs what was pasted, in a folder with a picture to upload; gives what it printed. */
async function runInShell(lines: string): Promise<string> {
  await using folder = await Folder.make();
  await folder.write("cat.jpg", "a cat");
  const { success, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-euc", `${lines.replaceAll("curl ", "curl -sS --fail ")}\ncat cat.jpg`],
    cwd: folder.path,
  }).output();
  const text = new TextDecoder().decode(stdout);
  assertEquals(success, true, new TextDecoder().decode(stderr) + text);
  return text;
}

story("The curl lines are copied with the key in them, and work as they are.", async (scene) => {
  const { page, project } = scene;
  await signInAsOwner(scene);
  await openSection(page, "Connect");
  const lines = page.getByRole("region", { name: "curl: In a shell" });
  assertEquals((await lines.innerText()).includes(project.key), false);
  await page.getByRole("button", { name: "Show my key in the lines below" }).click();
  assertStringIncludes(await lines.innerText(), project.key);
  await page.getByRole("button", { name: "Copy the lines for curl: In a shell" }).click();
  await page.getByText("Copied", { exact: true }).waitFor();
  const printed = await runInShell(await scene.clipboard());
  assertStringIncludes(printed, '"names":["pets/cat.jpg"]');
  assertStringIncludes(printed, '"deleted":["pets/cat.jpg"]');
  assertStringIncludes(printed, "a cat");
  await page.getByRole("button", { name: /^Hide my key/ }).click();
  assertEquals((await lines.innerText()).includes(project.key), false);
});

story(
  "There are lines for each client, with this server's address and no key but one's own.",
  async (scene) => {
    const { page, project, server } = scene;
    await signInAsAdministrator(scene);
    await page.getByRole("combobox", { name: "Project" }).selectOption(project.id);
    await openSection(page, "Connect");
    for (const client of CLIENTS) {
      const section = page.getByRole("region", { name: client, exact: true });
      const text = await section.innerText();
      assertStringIncludes(text, new URL(server.origin).host, client);
      assertStringIncludes(text, "<the project key>", client);
    }
    await page.getByLabel("Address of the server").and(
      page.locator(`input[value="${server.origin}"]`),
    ).waitFor();
    assertEquals(await page.getByLabel("Project id").inputValue(), project.id);
    assertEquals(await page.getByRole("button", { name: /Show my key/ }).count(), 0);
  },
);

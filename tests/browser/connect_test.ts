import { assertEquals, assertStringIncludes } from "@std/assert";
import { Folder } from "../support/command.ts";
import { openSection, signInAsAdministrator, signInAsOwner } from "./support/navigation.ts";
import { suite } from "./support/suite.ts";

const CLIENTS = ["curl", "JavaScript", "Python", "Go"];

const test = suite("Connect");

/** Runs pasted lines in a folder with a file to upload. Returns their output. */
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

test("The copied curl lines contain the key and work unchanged", async (fixture) => {
  const { page, project } = fixture;
  await signInAsOwner(fixture);
  await openSection(page, "Connect");
  const lines = page.getByRole("region", { name: "curl: In a shell" });
  assertEquals((await lines.innerText()).includes(project.key), false);
  await page.getByRole("button", { name: "Show my key in the lines below" }).click();
  assertStringIncludes(await lines.innerText(), project.key);
  await page.getByRole("button", { name: "Copy the lines for curl: In a shell" }).click();
  await page.getByText("Copied", { exact: true }).waitFor();
  const printed = await runInShell(await fixture.clipboard());
  assertStringIncludes(printed, '"names":["pets/cat.jpg"]');
  assertStringIncludes(printed, '"deleted":["pets/cat.jpg"]');
  assertStringIncludes(printed, "a cat");
  await page.getByRole("button", { name: /^Hide my key/ }).click();
  assertEquals((await lines.innerText()).includes(project.key), false);
});

test(
  "Every client has lines with the address of the server, and the administrator sees a placeholder for the key",
  async (fixture) => {
    const { page, project, server } = fixture;
    await signInAsAdministrator(fixture);
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

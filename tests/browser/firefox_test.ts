import { assertEquals } from "@std/assert";
import { Project } from "../support/admin.ts";
import { Gate } from "../support/gate/gate.ts";
import { ENTER, findFirefox, Firefox } from "./support/firefox.ts";

const path = findFirefox();
// deno-lint-ignore no-console -- a test that is skipped says so
if (path === undefined) console.log("Skipped: firefox-esr is not installed");

Deno.test({
  name: "In Firefox, files are uploaded, shown, downloaded and shared",
  ignore: path === undefined,
  // Its processes end after the test.
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await using gate = await Gate.start({});
    const { server } = gate;
    const project = await Project.make(server, { name: "Photo album" });
    const drive = project.drive("docs");
    await drive.put("seed.txt", "seed");
    await using firefox = await Firefox.start(path ?? "");

    await firefox.open(server.origin);
    await firefox.click("input");
    await firefox.type(project.key + ENTER);
    await firefox.click("a", "docs");
    await firefox.until(`document.querySelector('[role=row][aria-label="seed.txt"]')`);

    await firefox.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["Sent by Firefox"], "letter.txt", { type: "text/plain" }));
      for (const type of ["dragenter", "dragover", "drop"]) {
        document.querySelector(".files-view").dispatchEvent(
          new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }),
        );
      }
    })()`);
    const row = `[role=row][aria-label="letter.txt"]`;
    await firefox.until(`document.querySelector('${row}')`);
    assertEquals(await drive.text("letter.txt"), "Sent by Firefox");

    await firefox.click(row, "", 2);
    await firefox.until(
      `document.querySelector("dialog")?.textContent.includes("Sent by Firefox")`,
    );
    await firefox.click("dialog button", "Close");
    await firefox.until(`document.querySelector("dialog") === null`);

    await firefox.click(row);
    await firefox.click("[role=toolbar] button", "Download");
    assertEquals(await firefox.downloaded("letter.txt"), "Sent by Firefox");

    await firefox.click("[role=toolbar] button", "Share");
    await firefox.click("dialog button", "Create link");
    await firefox.until(`document.querySelector("dialog [aria-label=Links] li")`);
    const { links } = (await drive.send("GET", "/links")).expect(200).json as {
      links: { name: string; url: string }[];
    };
    assertEquals(links.map(({ name }) => name), ["letter.txt"]);
    const response = await fetch(links[0]!.url);
    assertEquals([response.status, await response.text()], [200, "Sent by Firefox"]);
  },
});

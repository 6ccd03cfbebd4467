import { assert, assertEquals } from "@std/assert";
import type { Locator } from "playwright-core";
import { MIB, patternBytes, utf8 } from "../support/bytes.ts";
import { dialog, signInAsOwner } from "./support/navigation.ts";
import { pdf, png, wav, webm } from "./support/samples.ts";
import type { Fixture } from "./support/fixture.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder, waitUntil } from "./support/uploads.ts";

const test = suite("Previews");

/** Stores a file and opens it from its folder. */
async function show(
  fixture: Fixture,
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
  type?: string,
): Promise<Locator> {
  const headers: Record<string, string> = type === undefined ? {} : { "Content-Type": type };
  await fixture.project.drive("things").put(name, bytes, headers);
  await signInAsOwner(fixture);
  await openFolder(fixture, "things");
  await entry(fixture.page, name).getByRole("button").click();
  return dialog(fixture.page, name);
}

test("An image is shown", async (fixture) => {
  const shown = await show(fixture, "cat.png", await png(fixture.page));
  const image = shown.getByRole("img", { name: "cat.png" });
  await image.waitFor();
  const width = await image.evaluate(async (element) => {
    const picture = element as HTMLImageElement;
    await picture.decode();
    return picture.naturalWidth;
  });
  assertEquals(width, 320);
});

test("An SVG image is shown and runs no script", async (fixture) => {
  const text = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8" width="80" height="80">
    <script>alert(sessionStorage.kvdrive)</script><rect width="8" height="8" fill="red" onload="alert(1)"/></svg>`;
  const shown = await show(fixture, "drawing.svg", utf8(text));
  const image = shown.getByRole("img", { name: "drawing.svg" });
  assert(
    await image.evaluate(async (element) => {
      await (element as HTMLImageElement).decode();
      return (element as HTMLImageElement).naturalWidth > 0;
    }),
  );
});

for (const kind of ["audio", "video"] as const) {
  test(
    `${kind === "audio" ? "Audio" : "Video"} is played without leaving the page`,
    async (fixture) => {
      const { page } = fixture;
      const [name, bytes] = kind === "audio"
        ? ["beep.wav", wav()] as const
        : ["film.webm", await webm(page)] as const;
      const shown = await show(fixture, name, bytes);
      const player = shown.locator(kind);
      await player.waitFor();
      assertEquals(await player.getAttribute("aria-label"), name);
      const error = await player.evaluate(async (element) => {
        const media = element as HTMLMediaElement;
        media.muted = true;
        const ended = new Promise((resolve) => {
          for (const type of ["ended", "error"]) media.addEventListener(type, resolve);
        });
        await media.play();
        await ended;
        return media.error?.message ?? "";
      });
      assertEquals(error, "");
    },
  );
}

test("A PDF is shown by the viewer of the browser, and no other content", async (fixture) => {
  const { page } = fixture;
  const shown = await show(fixture, "paper.pdf", pdf("Hello"));
  await shown.locator("iframe[title='paper.pdf']").waitFor();
  await waitUntil(
    () => Promise.resolve(page.frames().some((one) => one.url().startsWith("chrome-extension:"))),
    "the PDF viewer",
  );
  await shown.getByRole("button", { name: "Close" }).click();
  await fixture.project.drive("things").put("fake.pdf", "<script>alert(1)</script>");
  await page.reload();
  await entry(page, "fake.pdf").getByRole("button").click();
  await dialog(page, "fake.pdf").getByText("This is not a PDF file.").waitFor();
});

test("A text is shown unchanged", async (fixture) => {
  const text = "Grüße, 😀\n\t<b>not bold</b> & so on\n";
  const shown = await show(fixture, "letter.md", utf8(text));
  const content = shown.getByLabel("Content");
  await content.waitFor();
  assertEquals(await content.evaluate((element) => element.textContent), text);
});

test(
  "A long text is shown in part, and an empty one with a note",
  async (fixture) => {
    const { page, project } = fixture;
    const shown = await show(fixture, "long.log", utf8("0123456789abcde\n".repeat(MIB / 8)));
    await shown.getByText(/^The first 1\.0 MB of 2\.1 MB:/).waitFor();
    const content = shown.getByLabel("Content");
    assertEquals(await content.evaluate((element) => element.textContent?.length), MIB);
    await page.keyboard.press("Escape");
    await project.drive("things").put("empty.txt", "");
    await page.reload();
    await entry(page, "empty.txt").getByRole("button").click();
    await dialog(page, "empty.txt").getByText("The file is empty.").waitFor();
  },
);

test("A file that the browser cannot show has a note", async (fixture) => {
  const { page, project } = fixture;
  const shown = await show(fixture, "broken.png", patternBytes(2000));
  await shown.getByText("The browser cannot show this file").waitFor();
  await page.keyboard.press("Escape");
  await project.drive("things").put("broken.txt", patternBytes(2000));
  await page.reload();
  await entry(page, "broken.txt").getByRole("button").click();
  await dialog(page, "broken.txt").getByText("This is not a text file").waitFor();
});

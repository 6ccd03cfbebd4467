import { assert, assertEquals } from "@std/assert";
import type { Locator } from "playwright-core";
import { MIB, patternBytes, utf8 } from "../support/bytes.ts";
import { dialog, signInAsOwner } from "./support/desk.ts";
import { pdf, png, wav, webm } from "./support/samples.ts";
import type { Scene } from "./support/scene.ts";
import { stories } from "./support/stories.ts";
import { entry, openFolder, until } from "./support/uploads.ts";

const story = stories("Previews");

/** Puts a file, and opens it from its folder. */
async function show(
  scene: Scene,
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
  type?: string,
): Promise<Locator> {
  const headers: Record<string, string> = type === undefined ? {} : { "Content-Type": type };
  await scene.project.drive("things").put(name, bytes, headers);
  await signInAsOwner(scene);
  await openFolder(scene, "things");
  await entry(scene.page, name).getByRole("button").click();
  return dialog(scene.page, name);
}

story("A picture is shown.", async (scene) => {
  const shown = await show(scene, "cat.png", await png(scene.page));
  const image = shown.getByRole("img", { name: "cat.png" });
  await image.waitFor();
  const width = await image.evaluate(async (element) => {
    const picture = element as HTMLImageElement;
    await picture.decode();
    return picture.naturalWidth;
  });
  assertEquals(width, 320);
});

story("A drawing (SVG) is shown and runs nothing.", async (scene) => {
  const text = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8" width="80" height="80">
    <script>alert(sessionStorage.kvdrive)</script><rect width="8" height="8" fill="red" onload="alert(1)"/></svg>`;
  const shown = await show(scene, "drawing.svg", utf8(text));
  const image = shown.getByRole("img", { name: "drawing.svg" });
  assert(
    await image.evaluate(async (element) => {
      await (element as HTMLImageElement).decode();
      return (element as HTMLImageElement).naturalWidth > 0;
    }),
  );
});

for (const kind of ["audio", "video"] as const) {
  story(
    `${kind === "audio" ? "A sound" : "A film"} is played without leaving the page.`,
    async (scene) => {
      const { page } = scene;
      const [name, bytes] = kind === "audio"
        ? ["beep.wav", wav()] as const
        : ["film.webm", await webm(page)] as const;
      const shown = await show(scene, name, bytes);
      const player = shown.locator(kind);
      await player.waitFor();
      assertEquals(await player.getAttribute("aria-label"), name);
      const error = await player.evaluate(async (element) => {
        const media = element as HTMLMediaElement;
        media.muted = true;
        await media.play();
        await new Promise((resolve) => media.addEventListener("ended", resolve));
        return media.error?.message ?? "";
      });
      assertEquals(error, "");
    },
  );
}

story("A PDF is shown by the browser's own viewer, and only as a PDF.", async (scene) => {
  const { page } = scene;
  const shown = await show(scene, "paper.pdf", pdf("Hello"));
  await shown.locator("iframe[title='paper.pdf']").waitFor();
  await until(
    () => Promise.resolve(page.frames().some((one) => one.url().startsWith("chrome-extension:"))),
    "the viewer",
  );
  await shown.getByRole("button", { name: "Close" }).click();
  await scene.project.drive("things").put("fake.pdf", "<script>alert(1)</script>");
  await page.reload();
  await entry(page, "fake.pdf").getByRole("button").click();
  await dialog(page, "fake.pdf").getByText("This is not a PDF file.").waitFor();
});

story("A text is shown as it stands.", async (scene) => {
  const text = "Grüße, 😀\n\t<b>not bold</b> & so on\n";
  const shown = await show(scene, "letter.md", utf8(text));
  const content = shown.getByLabel("Content");
  await content.waitFor();
  assertEquals(await content.evaluate((element) => element.textContent), text);
});

story(
  "Of a long text the beginning is shown, and of an empty one that it is empty.",
  async (scene) => {
    const { page, project } = scene;
    const shown = await show(scene, "long.log", utf8("0123456789abcde\n".repeat(MIB / 8)));
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

story("What a browser cannot show is told in a sentence.", async (scene) => {
  const { page, project } = scene;
  const shown = await show(scene, "broken.png", patternBytes(2000));
  await shown.getByText("The browser cannot show this file").waitFor();
  await page.keyboard.press("Escape");
  await project.drive("things").put("broken.txt", patternBytes(2000));
  await page.reload();
  await entry(page, "broken.txt").getByRole("button").click();
  await dialog(page, "broken.txt").getByText("This is not a text file").waitFor();
});

import { assert, assertEquals } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { patternBytes } from "../support/bytes.ts";
import { type Fixture, PHONE } from "./support/fixture.ts";
import { signInAsOwner } from "./support/navigation.ts";
import { contentOf, DRIVE, open, show } from "./support/previews.ts";
import { pdf, png, wav, webm } from "./support/samples.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder, waitUntil } from "./support/uploads.ts";

const test = suite("Previews");

/** The name of the file that is shown, as its heading has it. */
async function waitForName(page: Page, name: string, position: string): Promise<void> {
  const shown = page.getByRole("dialog", { name });
  await shown.getByText(position, { exact: true }).waitFor();
}

/** Stores three pictures, and opens the folder. */
async function fillWithImages(fixture: Fixture): Promise<void> {
  const { project, page } = fixture;
  const image = await png(page, 1600);
  for (const name of ["a.png", "b.png", "c.png"]) await project.drive(DRIVE).put(name, image);
  await project.drive(DRIVE).put("folder/d.png", image);
  await signInAsOwner(fixture);
  await openFolder(fixture, DRIVE);
}

async function widthOf(image: Locator): Promise<number> {
  return (await image.boundingBox())?.width ?? 0;
}

test("The files of a folder are seen one after the other", async (fixture) => {
  const { page } = fixture;
  await fillWithImages(fixture);
  await entry(page, "a.png").click();
  await page.keyboard.press("Enter");
  await waitForName(page, "a.png", "1 of 3");
  await page.keyboard.press("ArrowRight");
  await waitForName(page, "b.png", "2 of 3");
  assert(page.url().endsWith("?open=b.png"));
  await page.getByRole("button", { name: "Next file" }).click();
  await waitForName(page, "c.png", "3 of 3");
  // At the end the button keeps the focus, and does nothing.
  await page.keyboard.press("Enter");
  await waitForName(page, "c.png", "3 of 3");
  await page.getByRole("button", { name: "Previous file" }).click();
  await waitForName(page, "b.png", "2 of 3");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.getAttribute("data-name") === "b.png");
  await page.goForward();
  await page.getByRole("dialog").waitFor();
  await page.goBack();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await open(fixture, "c.png");
  await page.reload();
  await waitForName(page, "c.png", "3 of 3");
  // The image fills the height; this is at its side.
  await page.mouse.click(100, 700);
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("A click closes the preview while a large image is still loading", async (fixture) => {
  const { page } = fixture;
  // The browser knows the size of an image before it has all of it.
  await page.addInitScript(() => {
    const hold = (event: Event) => {
      if (event.target instanceof HTMLImageElement) event.stopImmediatePropagation();
    };
    document.addEventListener("load", hold, true);
  });
  await fillWithImages(fixture);
  await open(fixture, "c.png");
  const image = page.getByRole("dialog").getByAltText("c.png");
  await waitUntil(
    () => image.evaluate((element) => (element as HTMLImageElement).complete),
    "the image",
  );
  await page.mouse.click(100, 700);
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("The focus stays in the preview", async (fixture) => {
  const { page } = fixture;
  await fillWithImages(fixture);
  await open(fixture, "a.png");
  for (let count = 0; count < 30; count++) {
    await page.keyboard.press("Tab");
    const isOutside = await page.evaluate(() =>
      document.activeElement !== document.body &&
      document.activeElement?.closest("dialog") === null
    );
    assertEquals(isOutside, false);
  }
});

test("An image is zoomed with buttons, keys, the wheel and a double click, and dragged", async (fixture) => {
  const { page } = fixture;
  await fillWithImages(fixture);
  const shown = await open(fixture, "a.png");
  const image = shown.getByRole("img", { name: "a.png" });
  const zoom = shown.getByLabel("Zoom", { exact: true });
  await waitUntil(async () => await widthOf(image) > 100, "the image");
  const fit = await zoom.textContent();
  const width = await widthOf(image);
  await shown.getByRole("button", { name: "Zoom in" }).click();
  await waitUntil(async () => await widthOf(image) > width * 1.4, "a larger image");
  const before = await image.boundingBox();
  await page.mouse.move(640, 400);
  await page.mouse.down();
  await page.mouse.move(740, 400, { steps: 5 });
  await page.mouse.up();
  await waitUntil(
    async () => ((await image.boundingBox())?.x ?? 0) > (before?.x ?? 0),
    "the image moves",
  );
  await shown.getByRole("button", { name: "Fit to window" }).click();
  assertEquals(await zoom.textContent(), fit);
  await page.keyboard.press("+");
  await waitUntil(async () => await zoom.textContent() !== fit, "the key +");
  await page.keyboard.press("0");
  assertEquals(await zoom.textContent(), fit);
  await page.mouse.move(640, 400);
  await page.mouse.wheel(0, -300);
  await waitUntil(async () => await zoom.textContent() !== fit, "the wheel");
  await page.mouse.dblclick(640, 400);
  assertEquals(await zoom.textContent(), fit);
  await page.mouse.dblclick(640, 400);
  await waitUntil(async () => await zoom.textContent() !== fit, "the double click");
  // Pixels are squares when they are large.
  for (let count = 0; count < 8; count++) await page.keyboard.press("+");
  assertEquals(await image.evaluate((one) => getComputedStyle(one).imageRendering), "pixelated");
});

test("A finger moves to the next file, and drags an enlarged image", async (fixture) => {
  const { page, context } = fixture;
  await fillWithImages(fixture);
  await open(fixture, "a.png");
  await page.setViewportSize(PHONE);
  const devTools = await context.newCDPSession(page);
  await devTools.send("Emulation.setTouchEmulationEnabled", { enabled: true });
  const swipe = async (from: number, to: number) => {
    const send = (type: "touchStart" | "touchMove" | "touchEnd", x?: number) =>
      devTools.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: x === undefined ? [] : [{ x, y: 350 }],
      });
    await send("touchStart", from);
    await send("touchMove", (from + to) / 2);
    await send("touchMove", to);
    await send("touchEnd");
  };
  await swipe(300, 100);
  await waitForName(page, "b.png", "2 of 3");
  await swipe(100, 300);
  await waitForName(page, "a.png", "1 of 3");
  await page.getByRole("button", { name: "Zoom in" }).click();
  await swipe(300, 100);
  await waitForName(page, "a.png", "1 of 3");
});

test("The images before and after are loaded before they are asked for", async (fixture) => {
  const { page } = fixture;
  await fillWithImages(fixture);
  const requested: string[] = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.pathname.startsWith("/dashboard/download/")) {
      requested.push(url.searchParams.get("name") ?? "");
    }
    if (url.pathname === "/dashboard/downloads") requested.push("ticket");
  });
  await open(fixture, "b.png");
  await waitUntil(() => Promise.resolve(requested.length >= 4), "the neighbors");
  assertEquals(requested.toSorted(), ["a.png", "b.png", "c.png", "ticket"]);
});

test("A file is deleted from its preview, and brought back", async (fixture) => {
  const { page, project } = fixture;
  await project.call("PATCH", "", { body: { trash_days: 7 } });
  await fillWithImages(fixture);
  await open(fixture, "b.png");
  await page.getByRole("group", { name: "Actions" }).getByRole("button", { name: "Delete" })
    .click();
  const question = page.getByRole("dialog", { name: /Delete/ });
  if (await question.count() > 0) await question.getByRole("button", { name: /Delete/ }).click();
  await waitForName(page, "c.png", "2 of 2");
  await page.getByRole("button", { name: "Undo" }).click();
  await waitForName(page, "c.png", "3 of 3");
});

for (const kind of ["audio", "video"] as const) {
  test(
    `${kind === "audio" ? "Audio" : "Video"} is played, and stops when it is left`,
    async (fixture) => {
      const { page } = fixture;
      const [name, bytes] = kind === "audio"
        ? ["beep.wav", wav()] as const
        : ["film.webm", await webm(page)] as const;
      const shown = await show(fixture, name, bytes);
      const player = shown.locator(kind);
      await player.waitFor();
      assertEquals(await player.getAttribute("aria-label"), name);
      const element = await player.elementHandle();
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
      await page.keyboard.press("Escape");
      await shown.waitFor({ state: "detached" });
      const isStopped = async () =>
        await element?.evaluate((one) => {
          const media = one as HTMLMediaElement;
          return media.networkState !== media.NETWORK_LOADING && !media.hasAttribute("src");
        }) ?? false;
      await waitUntil(isStopped, "the end of the transfer");
    },
  );
}

test("A recording that is longer than its tickets goes on where it was", async (fixture) => {
  const { page } = fixture;
  const shown = await show(fixture, "long.wav", wav());
  await page.clock.install();
  const player = shown.locator("audio");
  let src = "";
  for (const place of [0.1, 0.2, 0.3]) {
    await waitUntil(async () => {
      const present = await player.evaluate((element) => (element as HTMLAudioElement).src);
      if (present === "" || present === src) return false;
      src = present;
      return true;
    }, "another ticket");
    await player.evaluate(
      (element, place) =>
        new Promise((resolve) => {
          element.addEventListener("timeupdate", resolve, { once: true });
          (element as HTMLAudioElement).currentTime = place;
        }),
      place,
    );
    await page.clock.fastForward("01:00:00");
    // The browser asks for more of the file, and is refused.
    await player.evaluate((element) => element.dispatchEvent(new Event("error")));
    await waitUntil(
      () =>
        player.evaluate(
          (element, [place, src]) => {
            const audio = element as HTMLAudioElement;
            return ![src, ""].includes(audio.src) && audio.currentTime === place;
          },
          [place, src] as const,
        ),
      `the place ${place}`,
    );
  }
});

test("A PDF is shown by the viewer of the browser, and no other content", async (fixture) => {
  const { page, project } = fixture;
  await project.drive(DRIVE).put("fake.pdf", "<script>alert(1)</script>");
  const shown = await show(fixture, "paper.pdf", pdf("Hello"));
  await shown.locator("iframe[title='paper.pdf']").waitFor();
  await waitUntil(
    () => Promise.resolve(page.frames().some((one) => one.url().startsWith("chrome-extension:"))),
    "the PDF viewer",
  );
  await shown.getByRole("button", { name: "Previous file" }).click();
  await page.getByRole("dialog", { name: "fake.pdf" }).getByText("This is not a PDF document")
    .waitFor();
});

test("A text is shown unchanged, and a long one step by step", async (fixture) => {
  const { page, project } = fixture;
  const text = "Grüße, 😀\n\t<b>not bold</b> & so on\n\nend";
  await project.drive(DRIVE).put("long.log", "0123456789abcde\n".repeat(20_000));
  await project.drive(DRIVE).put("old.txt", new Uint8Array([0x47, 0x72, 0xfc, 0xdf, 0x65]));
  const shown = await show(fixture, "letter.txt", text);
  assertEquals(await contentOf(shown), text);
  await shown.getByText("4 lines · UTF-8").waitFor();
  await page.keyboard.press("ArrowRight");
  const long = page.getByRole("dialog", { name: "long.log" });
  assertEquals((await contentOf(long)).length, 3000 * 16);
  const more = long.getByRole("button", { name: "Show more" });
  const length = async () => (await contentOf(long)).length;
  await more.click();
  await waitUntil(async () => await length() === 6000 * 16, "more lines");
  for (let before = await length(); before < 20_000 * 16; before = await length()) {
    await more.click();
    await waitUntil(async () => await length() > before, "more lines");
  }
  assertEquals(await more.count(), 0);
  await long.getByText("20,000 lines").waitFor();
  await long.getByRole("button", { name: "Next file" }).click();
  const old = page.getByRole("dialog", { name: "old.txt" });
  assertEquals(await contentOf(old), "Grüße");
});

test("More of a file that was replaced meanwhile is not mixed with it", async (fixture) => {
  const { page, project, observer } = fixture;
  observer.allow(/status of 412/);
  // A page that hears of the new version shows it.
  await page.route("**/hints?*", () => {});
  const shown = await show(fixture, "long.log", "a".repeat(600_000));
  assertEquals((await contentOf(shown)).length, 256 * 1024);
  await project.drive(DRIVE).put("long.log", "b".repeat(600_000));
  await shown.getByRole("button", { name: "Show more" }).click();
  await page.getByText("Another version was stored meanwhile: open the file again").waitFor();
  assertEquals((await contentOf(shown)).length, 256 * 1024);
});

test("JSON, tables and bytes are formatted", async (fixture) => {
  const { page, project } = fixture;
  const drive = project.drive(DRIVE);
  await drive.put("b.csv", 'Day;Place\nMon;"Harbour; east"\n');
  await drive.put("c", new Uint8Array([0, 1, 0x48, 0x69]));
  const shown = await show(
    fixture,
    "a.json",
    '{"id": 12345678901234567890, "list": [{"x": true}]}',
  );
  await shown.getByText("12345678901234567890").waitFor();
  await shown.getByText("true").waitFor();
  await shown.getByRole("button", { name: "list" }).click();
  await shown.getByText("true").waitFor({ state: "detached" });
  await shown.getByRole("button", { name: "Source" }).click();
  assertEquals(await contentOf(shown), '{"id": 12345678901234567890, "list": [{"x": true}]}');
  await shown.getByRole("button", { name: "Next file" }).click();
  const table = page.getByRole("dialog", { name: "b.csv" });
  await table.getByRole("columnheader", { name: "Place" }).waitFor();
  await table.getByRole("cell", { name: "Harbour; east" }).waitFor();
  await table.getByRole("button", { name: "Next file" }).click();
  const bytes = page.getByRole("dialog", { name: "c" });
  assert((await contentOf(bytes)).includes("00 01 48 69"));
  assert((await contentOf(bytes)).includes("..Hi"));
});

test("The contents of a ZIP archive are listed, of which only the end is read", async (fixture) => {
  const { page, project } = fixture;
  const drive = project.drive(DRIVE);
  await drive.put("docs/Grüße.txt", "Hello");
  await drive.put("docs/film.mp4", patternBytes(1_000_000));
  const body = JSON.stringify({ prefixes: ["docs/"] });
  const zip = (await drive.send("POST", "/archive", { body })).expect(200);
  await drive.put("fake.zip", patternBytes(2000));
  const ranges: string[] = [];
  page.on("request", async (request) => {
    if (request.url().includes("name=all.zip")) {
      ranges.push(await request.headerValue("range") ?? "");
    }
  });
  const shown = await show(fixture, "all.zip", zip.bytes);
  await shown.getByText("2 entries · 1 MB unpacked").waitFor();
  await shown.getByRole("row", { name: "docs/Grüße.txt 5 B" }).waitFor();
  assertEquals(ranges.length, 1);
  await shown.getByRole("button", { name: "Next file" }).click();
  await page.getByRole("dialog", { name: "fake.zip" }).getByText("This is not a ZIP archive")
    .waitFor();
});

test("Empty, damaged and deleted files, and a server out of reach, are shown as such", async (fixture) => {
  const { page, project, context } = fixture;
  fixture.observer.allow(/Failed to load resource|ERR_INTERNET_DISCONNECTED|404/);
  const drive = project.drive(DRIVE);
  await drive.put("a.txt", "");
  await drive.put("b.png", patternBytes(2000));
  await drive.put("c.txt", "text");
  await drive.put("d.txt", "text");
  // With a hint the list would make room for the next file before the deleted one is asked for.
  await page.route("**/hints?*", () => {});
  await signInAsOwner(fixture);
  await openFolder(fixture, DRIVE);
  await open(fixture, "a.txt");
  await page.getByText("This file is empty").waitFor();
  await page.keyboard.press("ArrowRight");
  await page.getByText("This image cannot be shown").waitFor();
  await page.getByRole("button", { name: "Show its bytes" }).click();
  await page.getByText("00000010").waitFor();
  await drive.delete(["c.txt"]);
  await page.getByRole("button", { name: "Next file" }).click();
  await page.getByText("This file is gone").waitFor();
  await context.setOffline(true);
  await page.getByRole("button", { name: "Next file" }).click();
  await page.getByText("The page tries again by itself.").waitFor();
  await context.setOffline(false);
  assertEquals(await contentOf(page.getByRole("dialog", { name: "d.txt" })), "text");
});

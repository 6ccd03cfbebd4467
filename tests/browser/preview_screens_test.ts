import { patternBytes } from "../support/bytes.ts";
import type { Fixture } from "./support/fixture.ts";
import { signInAsOwner } from "./support/navigation.ts";
import { DRIVE, open } from "./support/previews.ts";
import { png, wav, webm } from "./support/samples.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("Screens of previews");

const MARKDOWN = `# Ferry to the islands

Leaves at **9:40** from _pier 4_, see [the timetable](https://example.com/ferry) and \`ferry.json\`.

- [x] Book the ferry
- [ ] Pack the tent

| Day | Place | Nights |
| --- | --- | ---: |
| Mon | Harbour | 2 |
| Wed | North cape | 1 |

> The last boat back is at 18:00.

\`\`\`ts
const nights = 3;
\`\`\`

![The harbour](harbour.png) and ![elsewhere](https://example.com/x.png)
`;
const JSON_TEXT = `{"name": "Ferry", "nights": 3, "isBooked": true, "note": null,
  "stops": [{"place": "Harbour", "nights": 2}, {"place": "North cape", "nights": 1}]}`;
const CSV = `Day,Place,Price\nMon,"Harbour, east",12.50\nWed,"The ""cape""",8\n`;
const CODE = `import { serve } from "./server.ts";

/** Starts the server, and keeps running until it is told to stop: a line that is longer than a phone is wide. */
export function main() {
\tserve({ port: 8080 });
}
`;
const DRAWING =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="3" fill="teal"/></svg>`;

/** Stores a file of each kind, and opens the folder. */
async function fill(fixture: Fixture): Promise<void> {
  const { project, page } = fixture;
  const drive = project.drive(DRIVE);
  await drive.put("harbour.png", await png(page, 1600));
  await drive.put("beep.wav", wav());
  await drive.put("film.webm", await webm(page));
  await drive.put("notes.md", MARKDOWN);
  await drive.put("data.json", JSON_TEXT);
  await drive.put("prices.csv", CSV);
  await drive.put("main.ts", CODE);
  await drive.put("random.bin", patternBytes(20_000));
  await drive.put("broken.png", patternBytes(2000));
  await drive.put("drawing.svg", DRAWING);
  const body = JSON.stringify({ names: ["main.ts", "notes.md"] });
  const zip = (await drive.send("POST", "/archive", { body })).expect(200);
  await drive.put("all.zip", zip.bytes);
  await drive.put("trip/a.png", await png(page));
  await signInAsOwner(fixture);
  await openFolder(fixture, DRIVE);
}

test("Previews of each kind", async (fixture) => {
  const { page } = fixture;
  await fill(fixture);
  const waits: Record<string, string> = {
    "harbour.png": "img[alt='harbour.png'][style*=transform]",
    "drawing.svg": "img[alt='drawing.svg'][style*=transform]",
    "beep.wav": "audio",
    "film.webm": "video",
    "notes.md": ".markdown img",
    "data.json": ".json",
    "prices.csv": "table",
    "all.zip": "table",
    "main.ts": "pre",
    "random.bin": "pre",
    "broken.png": ".preview-note",
  };
  for (const [name, element] of Object.entries(waits)) {
    const shown = await open(fixture, name);
    await shown.locator(element).first().waitFor();
    await inspect(page, `preview-${name.split(".")[0]}`);
    await page.keyboard.press("Escape");
    await shown.waitFor({ state: "detached" });
  }
});

test("Details of a file, a folder and many", async (fixture) => {
  const { page } = fixture;
  await fill(fixture);
  await entry(page, "harbour.png").click();
  await page.getByRole("button", { name: "Details" }).click();
  await page.getByLabel("SHA-256", { exact: true }).waitFor();
  await inspect(page, "details-file");
  await entry(page, "trip").click();
  await page.getByText("1 file").first().waitFor();
  await inspect(page, "details-folder");
  await entry(page, "notes.md").click({ modifiers: ["Control"] });
  await page.getByText("2 items selected").waitFor();
  await inspect(page, "details-many");
  const shown = await open(fixture, "notes.md");
  await shown.getByRole("button", { name: "Details" }).click();
  await shown.getByLabel("SHA-256", { exact: true }).waitFor();
  await inspect(page, "preview-details");
});

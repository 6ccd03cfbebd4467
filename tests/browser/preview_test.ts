import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { patternBytes, utf8 } from "../support/bytes.ts";
import type { Fixture } from "./support/fixture.ts";
import { signInAsOwner } from "./support/navigation.ts";
import { pdf, png, wav, webm } from "./support/samples.ts";
import { inspect } from "./support/screens.ts";
import { suite } from "./support/suite.ts";
import { entry, openFolder } from "./support/uploads.ts";

const test = suite("Previews");

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
const JSON_TEXT =
  `{"name": "Ferry", "nights": 3, "id": 12345678901234567890, "isBooked": true, "note": null,
  "stops": [{"place": "Harbour", "nights": 2}, {"place": "North cape", "nights": 1}]}`;
const CSV = `Day,Place,Price\nMon,"Harbour, east",12.50\nWed,"The ""cape""",8\n`;
const CODE =
  `import { serve } from "./server.ts";\n\n/** Starts the server. */\nexport function main() {\n\tserve({ port: 8080 });\n}\n`;

/** Opens the preview of a file from its folder. */
async function show({ page }: Fixture, name: string) {
  await entry(page, name).dblclick();
  const shown = page.getByRole("dialog", { name });
  await shown.waitFor();
  return shown;
}

async function fill({ project, page }: Fixture): Promise<void> {
  const drive = project.drive("things");
  await drive.put("01 harbour.png", await png(page, 1600));
  await drive.put("harbour.png", await png(page, 480));
  await drive.put("icon.png", await png(page, 24));
  await drive.put("beep.wav", wav());
  await drive.put("film.webm", await webm(page));
  await drive.put("paper.pdf", pdf("Hello"));
  await drive.put("notes.md", MARKDOWN);
  await drive.put("data.json", JSON_TEXT);
  await drive.put("prices.csv", CSV);
  await drive.put("main.ts", CODE);
  await drive.put("random.bin", patternBytes(20_000));
  await drive.put("empty.txt", "");
  await drive.put("broken.png", patternBytes(2000));
  await drive.put(
    "drawing.svg",
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="3" fill="teal"/></svg>`,
  );
}

test("Pictures of each kind", async (fixture) => {
  const { page } = fixture;
  page.setDefaultTimeout(8000);
  await fill(fixture);
  await signInAsOwner(fixture);
  await openFolder(fixture, "things");
  const only = Deno.env.get("ONLY")?.split(",");
  const names = [
    "01 harbour.png",
    "icon.png",
    "beep.wav",
    "film.webm",
    "notes.md",
    "data.json",
    "prices.csv",
    "main.ts",
    "random.bin",
    "empty.txt",
    "broken.png",
    "drawing.svg",
    "paper.pdf",
  ];
  for (const name of names.filter((name) => only?.some((one) => name.includes(one)) ?? true)) {
    await show(fixture, name);
    await page.waitForTimeout(600);
    await inspect(page, `preview-${name.replaceAll(/\W/g, "_")}`);
    await page.getByRole("button", { name: "Close" }).click();
  }
});

import { assert, assertEquals } from "@std/assert";
import { bundleDashboard } from "./bundle.ts";

/** What a browser may load before the sign-in, in bytes on the wire: the script, the styles, the page and the icon. */
const FIRST_PAGE = 60_000;
/** About what the headers of a response take, in bytes. */
const HEADERS = 500;

async function build(): Promise<Map<string, string>> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  try {
    await bundleDashboard(folder);
    const files = new Map<string, string>();
    for await (const { name } of Deno.readDir(folder)) {
      files.set(name, await Deno.readTextFile(`${folder}/${name}`));
    }
    return files;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const files = await build();

async function zippedSize(text: string): Promise<number> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).bytes()).length;
}

Deno.test("The dashboard is a page, a script, a style sheet and an icon", () => {
  assertEquals([...files.keys()].toSorted(), ["icon.svg", "index.html", "main.css", "main.js"]);
});

Deno.test("The first page is small, and everything after it is loaded already", async () => {
  const sizes = await Promise.all([...files.values()].map(zippedSize));
  const bytes = sizes.reduce((sum, size) => sum + size + HEADERS, 0);
  assert(bytes < FIRST_PAGE, `${bytes} bytes`);
});

Deno.test("The page needs nothing that its policy forbids", () => {
  const [html = "", script = "", styles = ""] = ["index.html", "main.js", "main.css"]
    .map((name) => files.get(name));
  assert(!/<style|\sstyle=|\son\w+=|<script(?![^>]* src=)|javascript:/i.test(html), html);
  assert(!/insertAdjacentHTML|document\.write|\beval\(|new Function/.test(script));
  // The bundle imports nothing. Samples of code for users, in quotes, do.
  assert(!/(?:^|[;}])import\b/.test(script));
  assert(!/@import|url\(/.test(styles));
});

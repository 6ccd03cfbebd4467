import { assert, assertEquals } from "@std/assert";
import { bundleDashboard } from "./bundle.ts";

/** What a browser may load before the sign-in, in bytes on the wire. */
const BEFORE_SIGN_IN = 60_000;
/** What it may load for everything. */
const ALL = 150_000;
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

/** What a page loads, in bytes on the wire. */
async function sizeOf(...names: string[]): Promise<number> {
  const sizes = await Promise.all(names.map((name) => zippedSize(files.get(name) ?? "")));
  return sizes.reduce((sum, size) => sum + size + HEADERS, 0);
}

Deno.test("Each page is one script and one style sheet", () => {
  const names = ["icon.svg", "index.html", "main.css", "main.js", "sign_in.html", "sign_in.js"];
  assertEquals([...files.keys()].toSorted(), names);
  for (const name of ["index.html", "sign_in.html"]) {
    const page = files.get(name) ?? "";
    assertEquals(page.match(/<script/g)?.length, 1);
    assertEquals(page.match(/rel="stylesheet"/g)?.length, 1);
  }
});

Deno.test("The sign-in is small, and so is everything together", async () => {
  const before = await sizeOf("sign_in.html", "sign_in.js", "main.css", "icon.svg");
  assert(before < BEFORE_SIGN_IN, `${before} bytes before the sign-in`);
  const all = before + await sizeOf("index.html", "main.js");
  assert(all < ALL, `${all} bytes in total`);
});

Deno.test("The page needs nothing that its policy forbids", () => {
  for (const [name, text] of files) {
    if (name.endsWith(".html")) {
      assert(!/<style|\sstyle=|\son\w+=|<script(?![^>]* src=)|javascript:/i.test(text), name);
    } else if (name.endsWith(".js")) {
      assert(!/insertAdjacentHTML|document\.write|\beval\(|new Function/.test(text), name);
    } else assert(!/@import|url\(/.test(text), name);
  }
});

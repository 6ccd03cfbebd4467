import { assertEquals, assertStringIncludes } from "@std/assert";
import { clientsOf } from "./snippets.ts";

const PLACE = {
  origin: "https://files.example.com:8000",
  host: "files.example.com:8000",
  isSecure: true,
  project: "album",
  key: "album_secret",
  hasWebdav: true,
  s3: "https://s3.example.com",
};

Deno.test("The lines of each client contain the server, the project and the key", () => {
  for (const { title, snippets } of clientsOf(PLACE)) {
    const text = snippets.map((one) => one.text).join("\n");
    // S3 has an address and keys of its own.
    assertStringIncludes(text, title === "S3" ? PLACE.s3 : PLACE.host, title);
    assertStringIncludes(text, title === "S3" ? "<the access key id>" : PLACE.key, title);
  }
});

Deno.test("A client that needs https shows a note on a page over http", () => {
  const about = (isSecure: boolean) =>
    clientsOf({ ...PLACE, isSecure }).filter(({ notes }) =>
      notes.some((note) => note.includes("https only"))
    ).map(({ title }) => title);
  assertEquals([about(true), about(false)], [[], ["JavaScript (Deta)", "Python (Deta)"]]);
});

Deno.test("What the server does not offer is not shown", () => {
  const titles = clientsOf({ ...PLACE, hasWebdav: false, s3: null }).map(({ title }) => title);
  assertEquals(titles.filter((title) => /S3|WebDAV/.test(title)), []);
});

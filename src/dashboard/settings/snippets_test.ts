import { assertEquals, assertStringIncludes } from "@std/assert";
import { clientsOf, PLACEHOLDER } from "./snippets.ts";

const PLACE = {
  origin: "https://files.example.com:8000",
  host: "files.example.com:8000",
  isSecure: true,
  project: "album",
};

Deno.test("The lines of each client contain the server, the project and a placeholder for the key", () => {
  for (const { title, snippets } of clientsOf(PLACE)) {
    const text = snippets.map((one) => one.text).join("\n");
    assertStringIncludes(text, PLACE.host, title);
    assertStringIncludes(text, PLACEHOLDER, title);
  }
});

Deno.test("A client that needs https shows a note on a page over http", () => {
  const about = (isSecure: boolean) =>
    clientsOf({ ...PLACE, isSecure }).filter(({ notes }) =>
      notes.some((note) => note.includes("https only"))
    ).map(({ title }) => title);
  assertEquals([about(true), about(false)], [[], ["JavaScript", "Python"]]);
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { clientsOf, PLACEHOLDER } from "./snippets.js";

const PLACE = {
  origin: "https://files.example.com:8000",
  host: "files.example.com:8000",
  isSecure: true,
  project: "album",
  key: PLACEHOLDER,
};

Deno.test("The lines of each client contain the server, the project and a placeholder for the key", () => {
  for (const { title, snippets } of clientsOf(PLACE)) {
    const text = snippets.map((one) => one.text).join("\n");
    assertStringIncludes(text, PLACE.host, title);
    assertStringIncludes(text, PLACEHOLDER, title);
  }
});

Deno.test("A key with shell characters is quoted", async () => {
  const key = `album_a'b"c$(echo d)\`e\`\\f`;
  for (const { title, snippets: [shell] } of clientsOf({ ...PLACE, key })) {
    const lines = shell?.text.split("\n") ?? [];
    const line = lines.find((one) => /^(?:export DETA_PROJECT_)?KEY=/.test(one));
    assert(line !== undefined, title);
    const name = line.replace("export ", "").split("=")[0];
    const args = ["-c", `${line}\nprintf %s "$${name}"`];
    const { stdout } = await new Deno.Command("sh", { args }).output();
    assertEquals(new TextDecoder().decode(stdout), key, title);
  }
});

Deno.test("A client that needs https shows a note on a page over http", () => {
  const about = (isSecure: boolean) =>
    clientsOf({ ...PLACE, isSecure }).filter(({ notes }) =>
      notes.some((note) => note.includes("https only"))
    ).map(({ id }) => id);
  assertEquals([about(true), about(false)], [[], ["javascript", "python"]]);
});

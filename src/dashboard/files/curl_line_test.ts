import { assertEquals } from "@std/assert";
import { curlLine } from "./curl_line.js";

const ORIGIN = "https://drive.example";

Deno.test("The line quotes every name and contains no secret", async () => {
  const names = [
    "cat.jpg",
    "it's; rm -rf ~",
    "$(id)`id`",
    "-",
    "--data",
    'a"b',
    "a\nb",
    "ä/😀 +&?#%",
  ];
  for (const name of names) {
    const line = curlLine(ORIGIN, { project: "p", drive: "my drive", name });
    const script = `curl() { printf '%s\\0' "$@"; }\nKEY=secret\n${line}`;
    const { stdout } = await new Deno.Command("bash", { args: ["-c", script] }).output();
    const words = new TextDecoder().decode(stdout).split("\0").slice(0, -1);
    const base = name.slice(name.lastIndexOf("/") + 1);
    const address = new URL(words[4] ?? "");
    assertEquals(words.slice(0, 4), [
      "-H",
      "X-Api-Key: secret",
      "-o",
      base.startsWith("-") ? `./${base}` : base,
    ]);
    assertEquals(address.pathname, "/v1/p/my%20drive/files/download");
    assertEquals(address.searchParams.get("name"), name);
    assertEquals(words.length, 5);
  }
});

import { assertEquals } from "@std/assert";
import { browserName } from "./session_call.ts";

Deno.test("A session has the name of its browser, which names others, too", () => {
  const chrome = "AppleWebKit/537.36 (KHTML, like Gecko)";
  const cases: [string | null, string][] = [
    [`Mozilla/5.0 (X11; Linux x86_64) ${chrome} Chrome/142.0.0.0 Safari/537.36`, "Chrome on Linux"],
    [
      `Mozilla/5.0 (X11; Linux x86_64) ${chrome} HeadlessChrome/142.0.0.0 Safari/537.36`,
      "Chrome on Linux",
    ],
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
    ["curl/8.14.1", "curl"],
    [null, "Unknown browser"],
  ];
  for (const [userAgent, name] of cases) assertEquals(browserName(userAgent), name);
});

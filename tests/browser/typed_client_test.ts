import { assertEquals } from "@std/assert";
import { ROOT_PATH } from "../support/cli/docs.ts";
import { PROJECT_KEY, TestServer } from "../support/server.ts";
import { startChromium } from "./support/chromium.ts";
import { HANG_GUARD } from "./support/fixture.ts";

/** A page of another origin. Its import map says where the client is. */
const PAGE = `<!doctype html><link rel="icon" href="data:,">
<script type="importmap">{ "imports": { "kvdrive-client": "/mod.js" } }</script>
<script type="module" src="/check.js"></script>`;

Deno.test({
  name: "The client works in a page of another origin",
  // Playwright keeps timers and pipes until the browser has exited.
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const files: Record<string, [type: string, text: string]> = {
      "/": ["text/html", PAGE],
      "/mod.js": ["text/javascript", await bundle()],
      "/check.js": [
        "text/javascript",
        await Deno.readTextFile(`${ROOT_PATH}scripts/client/runtime_check.js`),
      ],
    };
    await using server = await TestServer.start();
    await using site = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
      const [type = "text/plain", text = ""] = files[new URL(request.url).pathname] ?? [];
      return new Response(text, { headers: { "Content-Type": type } });
    });
    await using browser = await startChromium();
    const page = await browser.newPage();
    const ended = Promise.withResolvers<string>();
    page.on("console", (message) => {
      if (message.type() === "log") ended.resolve(message.text());
    });
    page.on("pageerror", (error) => ended.resolve(error.message));
    const timer = setTimeout(() => ended.resolve("It hangs"), HANG_GUARD);
    await page.goto(`http://127.0.0.1:${site.addr.port}/#${server.origin},${PROJECT_KEY}`);
    assertEquals(await ended.promise, "ok");
    clearTimeout(timer);
  },
});

async function bundle(): Promise<string> {
  const args = ["bundle", "--quiet", "--platform", "browser", "src/client/mod.ts"];
  const command = new Deno.Command(Deno.execPath(), { args, cwd: ROOT_PATH });
  const { success, stdout, stderr } = await command.output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

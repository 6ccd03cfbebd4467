import type { Browser, BrowserContext, Page } from "playwright-core";
import { ADMIN_TOKEN, Project } from "../../support/admin.ts";
import type { Gate } from "../../support/gate/gate.ts";
import type { TestServer } from "../../support/server.ts";
import { PageObserver } from "./page_observer.ts";

/** Only ends a hanging test, in milliseconds: an action or wait takes far less even on a busy machine. */
export const HANG_GUARD = 120_000;
const FAILED_SCREENSHOTS = new URL("../screenshots/failed/", import.meta.url);

/** The screen of a small notebook. */
export const DESKTOP = { width: 1280, height: 800 };
/** The screen of a narrow phone. */
export const PHONE = { width: 360, height: 740 };

/** A browser context with one tab, not signed in, and an empty project. */
export class Fixture implements AsyncDisposable {
  private constructor(
    readonly gate: Gate,
    readonly project: Project,
    readonly context: BrowserContext,
    readonly page: Page,
    readonly observer: PageObserver,
  ) {}

  static async open(browser: Browser, gate: Gate): Promise<Fixture> {
    const project = await Project.make(gate.server, { name: "Photo album" });
    const context = await browser.newContext({
      viewport: DESKTOP,
      colorScheme: "light",
      reducedMotion: "reduce",
      acceptDownloads: true,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    context.setDefaultTimeout(HANG_GUARD);
    const observer = await PageObserver.attach(context);
    observer.registerSecret(project.key, ADMIN_TOKEN);
    return new Fixture(gate, project, context, await context.newPage(), observer);
  }

  get server(): TestServer {
    return this.gate.server;
  }

  /** The same context and project with another tab. */
  withPage(page: Page): Fixture {
    return new Fixture(this.gate, this.project, this.context, page, this.observer);
  }

  /** The text of the clipboard. */
  async clipboard(): Promise<string> {
    return await this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** Saves screenshots of all tabs of a failed test. */
  async saveScreenshots(test: string): Promise<void> {
    const name = test.replaceAll(/\W+/g, "_").slice(0, 80);
    await Deno.mkdir(FAILED_SCREENSHOTS, { recursive: true });
    for (const [index, page] of this.context.pages().entries()) {
      const path = new URL(`${name}-${index}.png`, FAILED_SCREENSHOTS).pathname;
      await page.screenshot({ path }).catch(() => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.close();
  }
}

import type { Browser, BrowserContext, Page } from "playwright-core";
import { ADMIN_TOKEN, Project } from "../../support/admin.ts";
import type { Gate } from "../../support/gate/gate.ts";
import type { TestServer } from "../../support/server.ts";
import { Watch } from "./watch.ts";

const PATIENCE = 10_000;
const FAILED = new URL("../screenshots/failed/", import.meta.url);

/** Light, and as wide as a small notebook. */
export const DESK = { width: 1280, height: 800 };
/** The narrowest telephone. */
export const PHONE = { width: 360, height: 740 };

/** One person before one tab, signed in nowhere, with a project that is empty. */
export class Scene implements AsyncDisposable {
  private constructor(
    readonly gate: Gate,
    readonly project: Project,
    readonly context: BrowserContext,
    readonly page: Page,
    readonly watch: Watch,
  ) {}

  static async open(browser: Browser, gate: Gate): Promise<Scene> {
    const project = await Project.make(gate.server, { name: "Photo album" });
    const context = await browser.newContext({
      viewport: DESK,
      colorScheme: "light",
      reducedMotion: "reduce",
      acceptDownloads: true,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    context.setDefaultTimeout(PATIENCE);
    const watch = await Watch.over(context);
    watch.keepSecret(project.key, ADMIN_TOKEN);
    return new Scene(gate, project, context, await context.newPage(), watch);
  }

  get server(): TestServer {
    return this.gate.server;
  }

  /** The same person before another tab. */
  at(page: Page): Scene {
    return new Scene(this.gate, this.project, this.context, page, this.watch);
  }

  /** What was copied last. */
  async clipboard(): Promise<string> {
    return await this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** Keeps a picture of what a person saw when a story failed. */
  async keepPicture(sentence: string): Promise<void> {
    const name = sentence.replaceAll(/\W+/g, "_").slice(0, 80);
    await Deno.mkdir(FAILED, { recursive: true });
    for (const [index, page] of this.context.pages().entries()) {
      const path = new URL(`${name}-${index}.png`, FAILED).pathname;
      await page.screenshot({ path }).catch(() => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.close();
  }
}

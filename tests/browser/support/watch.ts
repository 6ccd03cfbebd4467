import { assertEquals } from "@std/assert";
import type { BrowserContext, Page } from "playwright-core";

/** What a page must never do, whatever a story does: it is noted as it happens, and judged at the end. */
export class Watch {
  private readonly complaints: string[] = [];
  private readonly expected: RegExp[] = [];
  private readonly secrets: string[] = [];

  private constructor(private readonly context: BrowserContext) {}

  static async over(context: BrowserContext): Promise<Watch> {
    const watch = new Watch(context);
    context.on("page", (page) => watch.follow(page));
    // A page may catch its own errors, but nobody can catch these.
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        // deno-lint-ignore no-console -- this is how it reaches the test
        console.error(`CSP: ${event.violatedDirective} refused ${event.blockedURI}`);
      });
    });
    return watch;
  }

  /** A text that may be in no address, no lasting storage and no cookie. */
  keepSecret(...secrets: string[]): void {
    this.secrets.push(...secrets);
  }

  /** The story provokes complaints like this one: a refused call is a line in the console. */
  expect(complaint: RegExp): void {
    this.expected.push(complaint);
  }

  /** Everything that was noted so far. */
  get text(): string {
    return this.complaints.join("\n");
  }

  /** Fails with everything that the pages of the context did and must not. */
  async judge(): Promise<void> {
    for (const page of this.context.pages()) await this.lookIntoStorage(page);
    const cookies = await this.context.cookies();
    for (const { name, value } of cookies) this.note(`A cookie: ${name}=${value}`);
    const unexpected = this.complaints.filter((line) => !this.expected.some((e) => e.test(line)));
    assertEquals(unexpected, []);
  }

  private note(complaint: string): void {
    this.complaints.push(complaint);
  }

  private follow(page: Page): void {
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) {
        this.note(`${message.type()}: ${message.text()} (${message.location().url})`);
      }
    });
    page.on("pageerror", (error) => this.note(`Uncaught: ${error.stack ?? error.message}`));
    page.on("dialog", (dialog) => {
      // Only scripts of a file could open one; leaving while uploads run is asked by the browser.
      if (dialog.type() === "beforeunload") return dialog.accept();
      this.note(`A dialog: ${dialog.message()}`);
      return dialog.dismiss();
    });
    // While somebody listens, no window of the system opens that nobody could close.
    page.on("filechooser", () => {});
    page.on("request", (request) => this.checkAddress(request.url()));
    page.on("framenavigated", (frame) => this.checkAddress(frame.url()));
  }

  private checkAddress(url: string): void {
    for (const secret of this.secrets) {
      if (decode(url).includes(secret)) this.note(`A secret in an address: ${url}`);
    }
  }

  private async lookIntoStorage(page: Page): Promise<void> {
    if (!page.url().startsWith("http")) return;
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }) + document.cookie);
    for (const secret of this.secrets) {
      if (kept.includes(secret)) this.note(`A secret in the lasting storage: ${kept}`);
    }
  }
}

function decode(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

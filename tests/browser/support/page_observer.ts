import { assertEquals } from "@std/assert";
import type { BrowserContext, Page } from "playwright-core";

/** Records problems that no test may cause: console errors, uncaught exceptions, dialogs, leaked secrets. */
export class PageObserver {
  private readonly problems: string[] = [];
  private readonly allowed: RegExp[] = [];
  private readonly secrets: string[] = [];

  private constructor(private readonly context: BrowserContext) {}

  static async attach(context: BrowserContext): Promise<PageObserver> {
    const observer = new PageObserver(context);
    context.on("page", (page) => observer.follow(page));
    // Violations of the policy are not exceptions: print them to the console, which is observed.
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        // deno-lint-ignore no-console -- the test reads the console
        console.error(`CSP: ${event.violatedDirective} refused ${event.blockedURI}`);
      });
    });
    return observer;
  }

  /** Secrets must not occur in any URL, in `localStorage` or in cookies. */
  registerSecret(...secrets: string[]): void {
    this.secrets.push(...secrets);
  }

  /** Allows problems that the test causes on purpose. A refused call, for example, prints a line to the console. */
  allow(problem: RegExp): void {
    this.allowed.push(problem);
  }

  /** All problems so far, one a line. */
  get text(): string {
    return this.problems.join("\n");
  }

  /** Fails if any page of the context caused a problem that is not allowed. */
  async assertNoProblems(): Promise<void> {
    for (const page of this.context.pages()) await this.checkStorage(page);
    const cookies = await this.context.cookies();
    for (const { name, value, httpOnly } of cookies) {
      // The session's own cookie is out of reach of scripts.
      if (name === "kvdrive_dashboard" && httpOnly) continue;
      this.record(`Cookie: ${name}=${value}`);
    }
    const unexpected = this.problems.filter((line) =>
      !this.allowed.some((pattern) => pattern.test(line))
    );
    assertEquals(unexpected, []);
  }

  private record(problem: string): void {
    this.problems.push(problem);
  }

  private follow(page: Page): void {
    page.on("console", (message) => {
      // The browser prints a line when a server is killed that streams hints: the page opens the stream again.
      if (isBrokenStream(message.text(), message.location().url)) return;
      if (["error", "warning"].includes(message.type())) {
        this.record(`${message.type()}: ${message.text()} (${message.location().url})`);
      }
    });
    page.on("pageerror", (error) => this.record(`Uncaught: ${error.stack ?? error.message}`));
    page.on("dialog", (dialog) => {
      // The browser itself asks before a page with running uploads is left. Any other dialog is opened by a script of a
      // stored file.
      if (dialog.type() === "beforeunload") return dialog.accept();
      this.record(`Dialog: ${dialog.message()}`);
      return dialog.dismiss();
    });
    // With a listener the browser opens no native file chooser, which could not be closed.
    page.on("filechooser", () => {});
    page.on("request", (request) => this.checkAddress(request.url()));
    page.on("framenavigated", (frame) => this.checkAddress(frame.url()));
  }

  private checkAddress(url: string): void {
    for (const secret of this.secrets) {
      if (decode(url).includes(secret)) this.record(`Secret in a URL: ${url}`);
    }
  }

  private async checkStorage(page: Page): Promise<void> {
    if (!page.url().startsWith("http")) return;
    const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }) + document.cookie);
    for (const secret of this.secrets) {
      if (stored.includes(secret)) this.record(`Secret in localStorage: ${stored}`);
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

function isBrokenStream(text: string, url: string): boolean {
  return /\/hints\b/.test(url) && /net::ERR_/.test(text);
}

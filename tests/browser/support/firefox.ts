import { HANG_GUARD } from "./fixture.ts";

/** The path of Debian's package. The environment variable `KVDRIVE_FIREFOX` overrides it. */
const DEBIAN = "/usr/bin/firefox-esr";

/** Keys of WebDriver. */
export const ENTER = "\uE007";

/** Settings of the profile. %s is the folder for downloads. */
const PREFERENCES = `
user_pref("browser.download.folderList", 2);
user_pref("browser.download.dir", "%s");
user_pref("browser.download.useDownloadDir", true);
user_pref("browser.download.alwaysOpenPanel", false);
user_pref("browser.shell.checkDefaultBrowser", false);
`;

interface Reply {
  id?: number;
  result?: unknown;
  error?: string;
  message?: string;
}

/** Returns the path of Firefox; `undefined` if it is not installed. */
export function findFirefox(): string | undefined {
  const path = Deno.env.get("KVDRIVE_FIREFOX") ?? DEBIAN;
  try {
    return Deno.statSync(path).isFile ? path : undefined;
  } catch {
    return undefined;
  }
}

/** A Firefox with one tab, driven with WebDriver BiDi. `playwright-core` drives only a Firefox of its own. */
export class Firefox implements AsyncDisposable {
  private readonly waiting = new Map<number, PromiseWithResolvers<unknown>>();
  private tab = "";
  private calls = 0;

  private constructor(
    private readonly process: Deno.ChildProcess,
    private readonly socket: WebSocket,
    private readonly profile: string,
  ) {
    socket.onmessage = ({ data }) => this.receive(JSON.parse(data));
  }

  static async start(path: string): Promise<Firefox> {
    const profile = await Deno.makeTempDir();
    await Deno.mkdir(`${profile}/downloads`);
    await Deno.writeTextFile(
      `${profile}/user.js`,
      PREFERENCES.replace("%s", `${profile}/downloads`),
    );
    const process = new Deno.Command(path, {
      args: ["--headless", "--no-remote", "--remote-debugging-port=0", "--profile", profile],
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const socket = new WebSocket(`${await addressIn(process.stderr)}/session`);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    const firefox = new Firefox(process, socket, profile);
    await firefox.call("session.new", { capabilities: {} });
    const { contexts } = await firefox.call("browsingContext.getTree", {}) as {
      contexts: { context: string }[];
    };
    firefox.tab = contexts[0]?.context ?? "";
    return firefox;
  }

  /** Opens an address, and waits until it is loaded. */
  async open(url: string): Promise<void> {
    await this.call("browsingContext.navigate", { context: this.tab, url, wait: "complete" });
  }

  /** Returns the value of an expression in the page: a text, a number or a truth value. */
  async evaluate(expression: string): Promise<unknown> {
    return (await this.#evaluate(expression)).value;
  }

  /** Returns the value of an expression, or the id of an element. */
  async #evaluate(expression: string): Promise<{ value?: unknown; sharedId?: string }> {
    const answer = await this.call("script.evaluate", {
      expression,
      target: { context: this.tab },
      awaitPromise: true,
    }) as {
      type: string;
      result?: { value?: unknown; sharedId?: string };
      exceptionDetails?: { text: string };
    };
    if (answer.type === "exception") throw new Error(answer.exceptionDetails?.text);
    return answer.result ?? {};
  }

  /** Waits until an expression in the page is true. */
  async until(expression: string): Promise<void> {
    const end = performance.now() + HANG_GUARD;
    while (await this.evaluate(`Boolean(${expression})`) !== true) {
      if (performance.now() > end) throw new Error(`Waited in vain for ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Clicks on the first visible element of a selector that has a text, as soon as there is one. */
  async click(selector: string, text = "", count = 1): Promise<void> {
    const find = `[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) =>
      one.checkVisibility() &&
      (one.textContent + (one.ariaLabel ?? "")).includes(${JSON.stringify(text)}))`;
    await this.until(find);
    const { sharedId } = await this.#evaluate(find);
    // Its place is looked up at the moment of the click: what loads above it may move it until then.
    const origin = { type: "element", element: { sharedId } };
    const once = [{ type: "pointerDown", button: 0 }, { type: "pointerUp", button: 0 }];
    const presses = Array.from({ length: count }, () => once).flat();
    await this.act({
      type: "pointer",
      id: "mouse",
      actions: [{ type: "pointerMove", x: 0, y: 0, origin }, ...presses],
    });
  }

  /** Types into the field that has the focus. */
  async type(text: string): Promise<void> {
    const actions = [...text].flatMap((value) => [{ type: "keyDown", value }, {
      type: "keyUp",
      value,
    }]);
    await this.act({ type: "key", id: "keyboard", actions });
  }

  /** Returns the content of a file that was downloaded, as soon as it is complete. */
  async downloaded(name: string): Promise<string> {
    const end = performance.now() + HANG_GUARD;
    const path = `${this.profile}/downloads/${name}`;
    for (;;) {
      const text = await Deno.readTextFile(path).catch(() => "");
      if (text !== "") return text;
      if (performance.now() > end) throw new Error(`${name} was not downloaded`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.close();
    try {
      this.process.kill();
    } catch {
      // It has ended with its connection.
    }
    await this.process.status;
    await Deno.remove(this.profile, { recursive: true }).catch(() => {
      // A process of Firefox still writes into it.
    });
  }

  private async act(source: object): Promise<void> {
    await this.call("input.performActions", { context: this.tab, actions: [source] });
  }

  private call(method: string, params: object): Promise<unknown> {
    const id = ++this.calls;
    const reply = Promise.withResolvers<unknown>();
    this.waiting.set(id, reply);
    this.socket.send(JSON.stringify({ id, method, params }));
    return reply.promise;
  }

  private receive({ id = 0, result, error, message }: Reply): void {
    const reply = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) reply?.resolve(result);
    else reply?.reject(new Error(`${error}: ${message}`));
  }
}

/** Returns the address that Firefox prints when it is ready, and reads on, so that it is never stopped by a full pipe. */
async function addressIn(output: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const found = Promise.withResolvers<string>();
  const read = async () => {
    let text = "";
    for await (const piece of output.pipeThrough(new TextDecoderStream())) {
      text = (text + piece).slice(-10_000);
      const address = /BiDi listening on (ws:\S+)/.exec(text)?.[1];
      if (address !== undefined) found.resolve(address);
    }
    found.reject(new Error(`Firefox ended: ${text}`));
  };
  void read();
  return await found.promise;
}

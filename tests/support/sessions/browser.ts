import { Answer } from "../answer.ts";

/** A session as the page of the dashboard gets it. */
export interface Session {
  id: string;
  role: string;
  project_id: string | null;
  project_name: string | null;
  key: string;
  permissions: string[];
  drives: string[] | null;
  name_prefix: string | null;
  csrf: string;
  created: string;
  expires: string;
  version: string;
  s3: string | null;
  trash_days: number;
  webdav: boolean;
}

/** What a browser sends. */
export interface Sent {
  body?: unknown;
  headers?: Record<string, string>;
  /** Whether the header of the session is left out, as in a request of another site. */
  withoutProof?: boolean;
}

/** A browser with the cookie of the dashboard. */
export class Browser {
  /** The cookie as `Cookie` has it; empty without one. */
  cookie = "";
  /** The last value of `Set-Cookie`. */
  setCookie = "";
  csrf = "";

  constructor(readonly origin: string, readonly headers: Record<string, string> = {}) {}

  /** A browser that has signed in with a key, token or code. */
  static async signedIn(
    { origin }: { origin: string },
    secret: string,
    headers: Record<string, string> = {},
  ): Promise<Browser> {
    const browser = new Browser(origin, headers);
    (await browser.signIn(secret)).expect(200);
    return browser;
  }

  async signIn(secret: unknown, sent: Sent = {}): Promise<Answer> {
    return await this.send("POST", "/dashboard/session", { body: { secret }, ...sent });
  }

  /** The session that the server knows this browser by. */
  async session(): Promise<Session | null> {
    const answer = await this.send("GET", "/dashboard/session", { withoutProof: true });
    return (answer.expect(200).json as { session: Session | null }).session;
  }

  async send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const { body, headers = {}, withoutProof = false } = sent;
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(this.origin + path, {
      method,
      headers: {
        ...this.headers,
        ...(this.cookie === "" ? {} : { Cookie: this.cookie }),
        ...(this.csrf === "" || withoutProof ? {} : { "X-Kvdrive-Session": this.csrf }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    });
    const answer = await Answer.of(response);
    this.#keep(answer);
    return answer;
  }

  #keep({ headers, status, text }: Answer): void {
    const [setCookie] = headers.getSetCookie();
    if (setCookie === undefined) return;
    this.setCookie = setCookie;
    const [pair = ""] = setCookie.split(";");
    this.cookie = pair.endsWith("=") ? "" : pair;
    const isNew = status === 200 && text.includes('"csrf"');
    this.csrf = isNew ? (JSON.parse(text) as { session: Session }).session.csrf : "";
  }
}

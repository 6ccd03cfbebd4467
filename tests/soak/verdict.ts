import { ADMIN_TOKEN } from "../support/admin.ts";
import type { TestServer } from "../support/server.ts";

/** What a run showed: figures, and checks that held or did not. */
export class Verdict {
  readonly #figures: [what: string, figure: string][] = [];
  readonly #failures: string[] = [];
  #passed = 0;

  /** A figure to be printed. */
  tell(what: string, figure: string): void {
    this.#figures.push([what, figure]);
  }

  /** A figure with its bound. */
  bound(what: string, value: number, most: number, unit: (value: number) => string): void {
    this.tell(what, `${unit(value)} of at most ${unit(most)}`);
    this.check(what, value <= most, `${unit(value)}, more than ${unit(most)}`);
  }

  check(what: string, holds: boolean, detail = ""): void {
    if (holds) this.#passed++;
    else this.fail(what, detail);
  }

  /** A check that holds unless it throws. */
  async holds(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#passed++;
    } catch (error) {
      this.fail(what, error);
    }
  }

  fail(what: string, error: unknown): void {
    const text = error instanceof Error ? error.stack ?? error.message : String(error);
    this.#failures.push(`${what}: ${text.slice(0, 1500)}`);
  }

  get failures(): number {
    return this.#failures.length;
  }

  /** The report as text. Its last line counts the checks. */
  report(): string {
    const width = Math.max(...this.#figures.map(([what]) => what.length));
    return [
      ...this.#figures.map(([what, figure]) => `${what.padEnd(width)}  ${figure}`),
      ...this.#failures.map((failure) => `FAILED ${failure}`),
      `${this.#passed} passed, ${this.#failures.length} failed`,
      "",
    ].join("\n");
  }
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

/** Checks the metrics of all answers: only a tenant without room may have got a 5xx. */
export async function checkAnswers(verdict: Verdict, server: TestServer): Promise<void> {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  const page = await (await fetch(`${server.origin}/metrics`, { headers })).text();
  const counts = new Map<string, number>();
  for (const line of page.split("\n")) {
    const status = /^kvdrive_http_requests_total\{.*\bstatus="(\d+)".*\} (\d+)/.exec(line);
    if (status === null) continue;
    const [, code = "", count] = status;
    counts.set(code, (counts.get(code) ?? 0) + Number(count));
  }
  const sorted = [...counts].sort(([a], [b]) => a < b ? -1 : 1);
  verdict.tell("answers", sorted.map(([status, count]) => `${status}: ${count}`).join(", "));
  verdict.check("the server counts its answers", (counts.get("201") ?? 0) > 100);
  const failed = sorted.filter(([status]) => status.startsWith("5") && status !== "507");
  verdict.check("no answer is an unexplained 5xx", failed.length === 0, failed.join("; "));
  const errors = server.text.split("\n").filter((line) => line.includes('"level":"error"'));
  verdict.check("the log has no error", errors.length === 0, errors.slice(0, 5).join("\n"));
}

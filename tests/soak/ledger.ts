import { assert } from "@std/assert";
import { assertSameBytes, patternBytes } from "../support/bytes.ts";
import type { Drive } from "../support/drive.ts";

/** What a name holds, as a pattern of bytes. */
export interface Content {
  size: number;
  seed: number;
}

export function bytesOf({ size, seed }: Content): Uint8Array<ArrayBuffer> {
  return patternBytes(size, seed);
}

/** What a drive must hold: every write that was acknowledged. One client writes to it. */
export class Ledger {
  readonly #files = new Map<string, Content>();

  constructor(readonly drive: Drive) {}

  get names(): string[] {
    return [...this.#files.keys()];
  }

  /** Bytes of all files. */
  get bytes(): number {
    return this.#files.values().reduce((sum, { size }) => sum + size, 0);
  }

  hold(name: string, content: Content): void {
    this.#files.set(name, content);
  }

  drop(name: string): void {
    this.#files.delete(name);
  }

  /** Reads a name and fails unless it holds what it must. */
  async check(name: string, drive = this.drive): Promise<void> {
    const content = this.#files.get(name);
    const answer = await drive.get(name);
    const what = `${drive.name}/${name}`;
    if (content === undefined) assert(answer.status === 404, `${what} was not deleted`);
    else assertSameBytes(answer.expect(200).bytes, bytesOf(content), what);
  }

  /** Reads everything, and fails unless the drive lists exactly that. */
  async checkAll(drive = this.drive): Promise<void> {
    for (const name of this.names) await this.check(name, drive);
    const listed: string[] = [];
    for (let last: string | undefined = ""; last !== undefined;) {
      const page = await drive.list({ last });
      listed.push(...page.names);
      last = page.paging?.last;
    }
    const missing = new Set(this.names).symmetricDifference(new Set(listed));
    assert(missing.size === 0, `${drive.name} lists other names: ${[...missing].join(", ")}`);
  }
}

import { assert, assertEquals } from "@std/assert";
import type { Project } from "../admin.ts";
import { Answer } from "../answer.ts";
import { type Drive, query } from "../drive.ts";
import { newAddressHeader } from "../server.ts";

export interface Change {
  id: string;
  at: string;
  type: "put" | "delete" | "move";
  name: string;
  from?: string;
  etag?: string;
  size?: number;
  content_type?: string;
}

export interface ChangePage {
  changes: Change[];
  last: string;
  more: boolean;
}

type Parameters = Record<string, string | number>;

/** Sets how many days a project keeps changes. */
export async function keepChanges(project: Project, change_days: number): Promise<void> {
  (await project.call("PATCH", "", { body: { change_days } })).expect(200);
}

/** A request for changes, whatever its answer is. */
export async function askChanges(drive: Drive, parameters: Parameters = {}): Promise<Answer> {
  return await drive.send("GET", `/changes${query(parameters)}`);
}

/** A page of changes; the fields of the answer are checked. */
export async function pageOf(drive: Drive, parameters: Parameters = {}): Promise<ChangePage> {
  const page = (await askChanges(drive, parameters)).expect(200).json as ChangePage;
  assertEquals(Object.keys(page).toSorted(), ["changes", "last", "more"]);
  return page;
}

/** The present cursor. */
export async function cursorOf(drive: Drive): Promise<string> {
  const { changes, last, more } = await pageOf(drive);
  assertEquals([changes, more], [[], false]);
  return last;
}

/** All changes after a cursor. */
export async function changesSince(drive: Drive, since = "0", limit = 1000): Promise<Change[]> {
  const all: Change[] = [];
  for (;;) {
    const { changes, last, more } = await pageOf(drive, { since, limit });
    all.push(...changes);
    if (!more) return all;
    assert(last !== since);
    since = last;
  }
}

/** Changes as short texts: `put a`, `move a -> b`. */
export function textsOf(changes: readonly Change[]): string[] {
  return changes.map(({ type, name, from }) =>
    `${type} ${from === undefined ? "" : `${from} -> `}${name}`
  );
}

/** The version of each name after some changes. */
export function replayed(changes: readonly Change[]): Map<string, string> {
  const versions = new Map<string, string>();
  for (const { type, name, from, etag } of changes) {
    if (from !== undefined) assert(versions.delete(from), `There is no ${from} to move`);
    if (type === "delete") assert(versions.delete(name), `There is no ${name} to delete`);
    else versions.set(name, etag ?? "");
  }
  return versions;
}

/** A block of a stream of server-sent events. A comment has no data. */
export interface ServerEvent {
  id?: string;
  event?: string;
  data?: string;
}

/** A stream of server-sent events. */
export class EventStream implements AsyncDisposable {
  readonly #abort = new AbortController();
  readonly #blocks: AsyncIterator<ServerEvent>;
  #answer: Response | undefined;

  private constructor(private readonly opened: Promise<Response>) {
    this.#blocks = this.#read();
  }

  static open(
    drive: Drive,
    parameters: Parameters = {},
    headers: Record<string, string> = {},
  ): EventStream {
    const url = drive.server.url(drive.name, `/changes${query(parameters)}`, drive.owner.project);
    return EventStream.at(url, drive.owner.key, headers);
  }

  static at(url: string, key: string, headers: Record<string, string> = {}): EventStream {
    const abort = new AbortController();
    const opened = fetch(url, {
      headers: {
        "X-Api-Key": key,
        "Accept": "text/event-stream",
        ...newAddressHeader(key),
        ...headers,
      },
      signal: abort.signal,
    });
    const stream = new EventStream(opened);
    stream.#abort.signal.addEventListener("abort", () => abort.abort());
    return stream;
  }

  /** Its status and headers. The body of an error is read. */
  async head(): Promise<Response> {
    return this.#answer ??= await this.opened;
  }

  async refusal(): Promise<Answer> {
    return await Answer.of(await this.head());
  }

  /** The next block, comments included; `undefined` at the end. */
  async block(): Promise<ServerEvent | undefined> {
    return (await this.#blocks.next()).value;
  }

  /** The next change; `undefined` at the end. */
  async change(): Promise<Change | undefined> {
    for (;;) {
      const block = await this.block();
      if (block === undefined) return undefined;
      if (block.data === undefined) continue;
      const change = JSON.parse(block.data) as Change;
      assertEquals([block.id, block.event], [change.id, change.type]);
      return change;
    }
  }

  async *#read(): AsyncGenerator<ServerEvent> {
    const { body } = await this.head();
    let text = "";
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const fields = block.split("\n").filter((line) => !line.startsWith(":"));
        yield Object.fromEntries(fields.map((line) => line.split(/: (.*)/s).slice(0, 2)));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.opened.then(({ body }) => body?.cancel(), () => {}).catch(() => {});
  }
}

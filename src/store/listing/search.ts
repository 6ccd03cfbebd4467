import { delay } from "@std/async/delay";
import { Semaphore } from "../../rules/concurrency.ts";
import { MAX_SEARCHED, nameAfter } from "../../rules/names.ts";
import { keys } from "../engine/keys.ts";
import type { FileRecord } from "../engine/records.ts";
import { type KvReader, readMany, readNames } from "../reads/read_queue.ts";
import {
  type Listed,
  listedFile,
  type ListPage,
  type ListQuery,
  rangeFrom,
  startOf,
} from "./listing.ts";

/**
 * Names that are read and compared at once, which takes about 0.5 ms: some at first, then as many as are expected to have
 * a number of characters, as folding long names takes longer.
 */
const FIRST_BATCH = 250;
const MAX_BATCH = 1000;
const BATCH_LENGTH = 131_072;

/**
 * The pause between two batches, in milliseconds. While nothing is left to run, the runtime looks at its sockets:
 * promises and `setImmediate` would keep other requests waiting until the search has ended.
 */
const SEARCH_PAUSE = 1;

/** What a search looks for, and what it returns. */
export interface SearchOptions {
  /** The text that the names contain, ignoring case. */
  contains: string;
  /** Whether the entries have their records. */
  details: boolean;
}

/** Searches the names of files. Searches take turns, so all of them together block the process as little as one does. */
export class FileSearch {
  readonly #turns = new Semaphore(1);

  constructor(private readonly reader: KvReader) {}

  /**
   * Returns files whose names contain a text, in the order of their names' UTF-8 bytes: up to `limit` of them among the
   * next `MAX_SEARCHED` names. If names remain, the page says after which one the next page continues.
   */
  async run(query: ListQuery, { contains, details }: SearchOptions): Promise<ListPage> {
    const { limit } = query;
    const entries: Listed[] = [];
    // No name has a NUL, which separates names here.
    if (contains.includes("\0")) return { entries, more: false };
    const wanted = searchForm(contains);
    let from = startOf(query);
    let size = FIRST_BATCH;
    for (let searched = 0;;) {
      const batch = await this.#turns.run(async () => {
        if (searched > 0) await delay(SEARCH_PAUSE);
        return await readBatch(this.reader, query, from, size);
      });
      const { length } = batch.names;
      const lastRead = batch.names.at(-1);
      const isEnd = lastRead === undefined || length < size;
      const found = await entriesOf(this.reader, query, namesWith(batch, wanted));
      entries.push(...details ? found : found.map(({ name }) => ({ name })));
      const lastEntry = entries[limit - 1];
      searched += length;
      if (isEnd && lastEntry === undefined) return { entries, more: false };
      from = nameAfter(lastRead ?? "");
      if (lastEntry !== undefined || searched === MAX_SEARCHED) {
        const last = lastEntry?.name ?? lastRead ?? "";
        const more = last !== lastRead || (!isEnd && await this.#hasNames(query, from));
        return { entries: entries.slice(0, limit), more, last };
      }
      const fitting = Math.ceil(length * BATCH_LENGTH / batch.text.length);
      size = Math.min(fitting, MAX_BATCH, MAX_SEARCHED - searched);
    }
  }

  async #hasNames(query: ListQuery, from: string): Promise<boolean> {
    return (await readBatch(this.reader, query, from, 1)).names.length > 0;
  }
}

/** Names in a row, each followed by NUL, and the same names one by one. */
interface Batch {
  text: string;
  names: string[];
}

async function readBatch(
  reader: KvReader,
  query: ListQuery,
  from: string,
  limit: number,
): Promise<Batch> {
  const range = rangeFrom("file", query, from);
  const text = range === undefined ? "" : await readNames(reader, range, limit);
  return { text, names: text.split("\0").slice(0, -1) };
}

/** Returns the names whose search form contains a text. Those of a batch are folded together, and mostly none matches. */
function namesWith({ text, names }: Batch, wanted: string): string[] {
  const forms = searchForm(text);
  if (!forms.includes(wanted)) return [];
  const each = forms.split("\0");
  return names.filter((_, i) => each[i]?.includes(wanted));
}

/** Returns the files that were found, without those that have expired or were deleted in the meantime. */
async function entriesOf(
  reader: KvReader,
  { project, drive }: ListQuery,
  names: readonly string[],
): Promise<Listed[]> {
  const all = names.map((name) => keys.file({ project, drive, name }));
  const records = await readMany<FileRecord>(reader, all);
  return names.flatMap((name, i) => {
    const found = records[i]?.value ?? undefined;
    const record = found && listedFile(found, Date.now());
    return record === undefined ? [] : [{ name, record }];
  });
}

// deno-lint-ignore no-control-regex -- ASCII is exactly this range
const ASCII = /^[\x00-\x7f]*$/;

/**
 * Dotless i folds to itself: its capital is the `I` of all other languages (the folding for Turkish, status T, is not
 * used).
 */
const EXCEPT_DOTLESS_I = /[^ı]+/g;

/** Cherokee folds to capitals, because its small letters were encoded later. */
const EXCEPT_CHEROKEE = /\P{Script=Cherokee}+/gu;

/**
 * Returns the full case folding of a text. JavaScript has none, but it has full case mappings, from which the default case
 * folding of Unicode follows (Unicode Standard 3.13, D144: `CaseFolding.txt`, statuses C and F): the small letters of its capitals, so that "ß" becomes "ss". Capitals are made
 * of small letters, as "ẞ" is a capital already. Characters fold one by one; only JavaScript's final sigma depends on its
 * neighbours, so it is undone.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.toLowerCase()
    .replace(EXCEPT_DOTLESS_I, (letters) => letters.toUpperCase())
    .replace(EXCEPT_CHEROKEE, (letters) => letters.toLowerCase())
    .replaceAll("ς", "σ");
}

/**
 * Returns the form in which texts are searched: folded, of the composed form (NFC). A few folded letters compose again,
 * as the three characters of a capital "Ϊ́" do, while the letter "ΐ" folds to three: these are folded once more.
 */
export function searchForm(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const folded = foldCase(text.normalize("NFC"));
  const composed = folded.normalize("NFC");
  return composed === folded ? folded : foldCase(composed);
}

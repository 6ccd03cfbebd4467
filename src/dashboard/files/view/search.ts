import type { Api } from "../../core/api.ts";
import type { Place } from "../entry.ts";
import { Listing, readPage } from "../listing/listing.ts";

/** Names that one request looks at, as the API says. */
const NAMES_PER_REQUEST = 100_000;
/** Hits on a full page. */
const PAGE = 1000;
/** A search ends after so many hits: another word finds better. */
export const MAX_HITS = 10_000;

/**
 * Makes the list of the files in the whole drive whose names contain a text. It is read by the caller.
 *
 * @param onSearched Called with the number of names that were looked at.
 */
export function startSearch(
  api: Api,
  place: Place,
  text: string,
  onSearched: (names: number) => void,
): Listing {
  let hits = 0;
  return new Listing(async (last, signal) => {
    if (last === undefined) hits = 0;
    const page = await readPage(api, place, { last, contains: text }, signal);
    hits += page.entries.length;
    const isFull = page.entries.length >= PAGE;
    onSearched(isFull ? PAGE : NAMES_PER_REQUEST);
    return hits < MAX_HITS ? page : { entries: page.entries };
  });
}

/** A part of a text, and whether it is what was searched for. */
export interface Piece {
  text: string;
  isHit: boolean;
}

/** Cuts a label where it contains a text; case is ignored. */
export function highlight(label: string, query: string): Piece[] {
  const [text, wanted] = [label.toLowerCase(), query.toLowerCase()];
  // Lower case may change the length of rare letters: then nothing is marked rather than the wrong letters.
  if (wanted === "" || text.length !== label.length) return [{ text: label, isHit: false }];
  const pieces: Piece[] = [];
  let from = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, from)) {
    if (at > from) pieces.push({ text: label.slice(from, at), isHit: false });
    from = at + wanted.length;
    pieces.push({ text: label.slice(at, from), isHit: true });
  }
  if (from < label.length) pieces.push({ text: label.slice(from), isHit: false });
  return pieces;
}

/**
 * The header `If` (RFC 4918, 10.4): lists of conditions, one of which has to hold, and the tokens of the locks that the
 * client holds.
 *
 * @module
 */
import { davErrors } from "../dav_error.ts";

/** A state token or an entity tag that a resource has, or has not. */
export interface Condition {
  isNegated: boolean;
  /** A token, such as `urn:uuid:…`. */
  token?: string | undefined;
  /** Without its quotes. */
  etag?: string | undefined;
}

/** Conditions that must all hold. */
export interface ConditionList {
  /** The resource that they are about; absent for that of the request. */
  tag?: string;
  conditions: Condition[];
}

/** The most conditions of a header. Clients send one for each lock that they hold. */
const MAX_CONDITIONS = 100;

/** A tag or a token in angle brackets, an entity tag in square ones, a parenthesis, or `Not`. */
const TOKEN = /[ \t]*(?:<([^<>]*)>|\[[ \t]*(?:W\/)?"([^"]*)"[ \t]*\]|([()])|(not)(?=[ \t]*[<[]))/iy;

/** @throws {DavError} 400 if it is malformed. */
export function parseIf(header: string): ConditionList[] {
  const malformed = () =>
    davErrors.badHeader("If", header, "lists of state tokens and entity tags in parentheses");
  const lists: ConditionList[] = [];
  let tag: string | undefined;
  let open: ConditionList | undefined;
  let isNegated = false;
  let count = 0;
  TOKEN.lastIndex = 0;
  const text = header.trim();
  while (TOKEN.lastIndex < text.length) {
    const found = TOKEN.exec(text);
    if (found === null) throw malformed();
    const [, angle, etag, parenthesis, not] = found;
    if (open === undefined) {
      if (parenthesis === "(") open = { conditions: [], ...(tag === undefined ? {} : { tag }) };
      else if (angle !== undefined) tag = angle;
      else throw malformed();
    } else if (parenthesis === ")") {
      if (open.conditions.length === 0 || isNegated) throw malformed();
      lists.push(open);
      open = undefined;
    } else if (not !== undefined) {
      isNegated = true;
    } else if (angle !== undefined || etag !== undefined) {
      if (++count > MAX_CONDITIONS) {
        throw davErrors.badRequest(`The header If has more than ${MAX_CONDITIONS} conditions`);
      }
      open.conditions.push({ isNegated, ...(angle === undefined ? { etag } : { token: angle }) });
      isNegated = false;
    } else {
      throw malformed();
    }
  }
  if (open !== undefined || lists.length === 0) throw malformed();
  return lists;
}

/** Returns the tokens of a header. Naming one submits it, whether its list holds or not (RFC 4918, 10.4.1). */
export function tokensIn(lists: readonly ConditionList[]): Set<string> {
  const tokens = lists.flatMap(({ conditions }) => conditions.map(({ token }) => token));
  return new Set(tokens.filter((token) => token !== undefined));
}

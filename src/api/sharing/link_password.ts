import { Buffer } from "node:buffer";
import { readBody } from "../../http/body.ts";
import { errors } from "../../http/http_error.ts";
import { isFromOtherSite } from "../../http/network/wrong_keys.ts";
import { MINUTE } from "../../rules/units.ts";
import { type OpenLink, UNLOCKED_TIME } from "../../store/links/link_store.ts";
import { MAX_LINK_PASSWORD } from "../../store/links/link_record.ts";
import type { Deps, RoutedRequest } from "../endpoint.ts";
import { isSecure } from "../sessions/session_call.ts";

/** The form with a password in bytes: each byte of it takes three, percent-encoded. */
const MAX_FORM = 3 * MAX_LINK_PASSWORD + 1024;

/** How long the form may take, in milliseconds. */
const FORM_TIME = MINUTE;

const FORM_TYPE = "application/x-www-form-urlencoded";

const COOKIE = "kvdrive_link";

/** Cookies of that name that are looked at: a browser sends one for each path that it knows. */
const MAX_COOKIES = 4;

/** What programs are asked for, and what keeps a browser from asking by itself, as it gets a page. */
const BASIC = 'Basic realm="kvdrive", charset="UTF-8"';
const FORM = 'LinkPassword realm="kvdrive"';

/**
 * Requires the password of a link, if it has one: as a cookie from the page with the form, or "as HTTP Basic with any
 * user name".
 *
 * @throws {HttpError} 401 without the right one, 429 after too many wrong ones.
 */
export async function requirePassword(
  routed: RoutedRequest,
  link: OpenLink,
  deps: Deps,
): Promise<void> {
  if (link.record.password === undefined) return;
  const { headers } = routed.request;
  for (const proof of proofsIn(headers)) {
    if (await deps.store.links.isProof(link, proof)) return;
  }
  const password = basicPassword(headers);
  if (password === undefined) throw errors.linkPassword(wantsPage(headers) ? FORM : BASIC);
  await checkPassword(routed, link, password, deps);
}

/**
 * Reads the form with the password of a link. Returns the cookie with which the browser opens the link from now on.
 *
 * @throws {HttpError} 400 without such a form, 401 with a wrong password, 429 after too many.
 */
export async function unlock(routed: RoutedRequest, link: OpenLink, deps: Deps): Promise<string> {
  const { request, context } = routed;
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== FORM_TYPE) throw errors.badPasswordForm();
  const pieces: Uint8Array[] = [];
  const limits = { limit: MAX_FORM, idle: deps.idleTimeout, pace: { grace: FORM_TIME }, context };
  const tooLarge = errors.fieldsTooLarge;
  for await (const piece of readBody(request, { ...limits, tooLarge })) pieces.push(piece);
  const password = new URLSearchParams(Buffer.concat(pieces).toString()).get("password");
  if (password === null) throw errors.badPasswordForm();
  await checkPassword(routed, link, password, deps);
  const attributes = [
    `${COOKIE}=${await deps.store.links.proofOf(link)}`,
    `Path=${deps.basePath}/s/${routed.params["token"]}`,
    `Max-Age=${UNLOCKED_TIME / 1000}`,
    "HttpOnly",
    "SameSite=Lax",
  ];
  if (isSecure(routed, deps)) attributes.push("Secure");
  return attributes.join("; ");
}

/** Whether a browser is to get a page: it navigates, so that a person reads the response. */
export function wantsPage(headers: Headers): boolean {
  return headers.get("accept")?.toLowerCase().includes("text/html") ?? false;
}

/**
 * Unlike a key, a password may be short enough to be guessed. So a network that has sent too many wrong ones of a link has
 * to wait, even if it would send the right one now. Other links and keys do not matter here, or others in the network
 * would keep it from its links. A password that another site makes a browser send is not looked at, so it needs no wait.
 */
async function checkPassword(
  { request, address, context }: RoutedRequest,
  { id, record }: OpenLink,
  password: string,
  { store, wrongKeys, wrongPasswords }: Deps,
): Promise<void> {
  const { headers } = request;
  const missing = errors.linkPassword(wantsPage(headers) ? FORM : BASIC);
  if (isFromOtherSite(headers.get("sec-fetch-site"))) throw missing;
  const requireNoWait = () => {
    const wait = wrongPasswords.waitOf(address(), performance.now(), id);
    if (wait !== undefined) throw errors.tooManyWrongPasswords(wait);
  };
  requireNoWait();
  if (record.password === undefined) return;
  const isRight = await store.links.passwords.matches(password, record.password);
  // Guesses that are sent side by side must not tell more than those that are sent one by one.
  if (isRight) return requireNoWait();
  context.link = "wrong password";
  wrongKeys.record(address());
  const wait = wrongPasswords.record(address(), performance.now(), id);
  throw wait === undefined ? missing : errors.tooManyWrongPasswords(wait);
}

/** The password of `Authorization: Basic`; `undefined` without one. */
function basicPassword(headers: Headers): string | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/=]+)$/i.exec(headers.get("authorization") ?? "") ?? [];
  if (encoded === undefined) return undefined;
  const credentials = Buffer.from(encoded, "base64").toString();
  const colon = credentials.indexOf(":");
  return colon === -1 ? undefined : credentials.slice(colon + 1);
}

function proofsIn(headers: Headers): string[] {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const proofs = pairs.filter((pair) => pair.startsWith(`${COOKIE}=`)).slice(0, MAX_COOKIES);
  return proofs.map((pair) => pair.slice(COOKIE.length + 1));
}

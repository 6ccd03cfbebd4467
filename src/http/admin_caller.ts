import { MAX_KEY_HEADER } from "../drive/limits.ts";
import { hashSecret } from "../drive/secrets.ts";
import { type Entrance, openedBy, refusal } from "./authenticate.ts";
import { errors } from "./http_error.ts";

/** Knows the administrator's token by its SHA-256. */
export interface AdminTokens {
  isAdminToken(hash: string): Promise<boolean>;
}

/** Who administers: everything, or the one project that a key opens. */
export type Caller = { isAdministrator: true } | { isAdministrator: false; project: string };

/** The scheme's name is not case-sensitive (RFC 9110, 11.1). */
const BEARER = /^bearer +(.+)$/i;

/** What a request has in place of the administrator's token, if anything. */
export function tokenOf(headers: Headers): string | undefined {
  return BEARER.exec(headers.get("authorization") ?? "")?.[1];
}

/** Whether a request comes with what may be the administrator's token. */
export function hasToken(headers: Headers): boolean {
  return tokenOf(headers) !== undefined;
}

/**
 * Who sends a request: by the administrator's token where there is one, else by the project key.
 *
 * @throws {HttpError} 401 without either or with one that is not known, 429 after too many of those.
 */
export async function callerOf(
  headers: Headers,
  tokens: AdminTokens,
  entrance: Entrance,
): Promise<Caller> {
  const token = tokenOf(headers);
  if (token !== undefined) {
    const isKnown = token.length <= MAX_KEY_HEADER && await tokens.isAdminToken(hashSecret(token));
    if (!isKnown) throw refusal(errors.unknownToken(), entrance);
    entrance.visit.key = "admin";
    return { isAdministrator: true };
  }
  if ((headers.get("x-api-key") ?? "") === "") throw errors.noCredentials();
  return { isAdministrator: false, project: await openedBy(headers, entrance) };
}

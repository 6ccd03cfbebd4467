import { MAX_KEY_HEADER, MIN_SECRET_LENGTH, parseProjectKey } from "../rules/secrets.ts";

/** What a server is asked with. */
export type Credentials = ProjectCredentials | AdministratorCredentials;

export interface ProjectCredentials {
  kind: "key";
  project: string;
  secret: string;
}

/** The administrator's token, which opens all projects. */
export interface AdministratorCredentials {
  kind: "token";
  secret: string;
}

/** Returns a secret as a project key, or else as the administrator's token, by its form; `undefined` if it is neither. */
export function parseCredentials(secret: string): Credentials | undefined {
  return keyCredentials(secret) ?? tokenCredentials(secret);
}

/** Returns a secret as a project key, if it has the form of one. */
export function keyCredentials(secret: string): ProjectCredentials | undefined {
  const key = parseProjectKey(secret);
  return key && { kind: "key", project: key.project, secret };
}

/** Returns a secret as a token, if it has the form of one. */
export function tokenCredentials(secret: string): AdministratorCredentials | undefined {
  const isToken = /^[\x21-\x7e]+$/.test(secret) && isLongEnough(secret);
  return isToken ? { kind: "token", secret } : undefined;
}

function isLongEnough({ length }: string): boolean {
  return length >= MIN_SECRET_LENGTH && length <= MAX_KEY_HEADER;
}

export function credentialHeaders({ kind, secret }: Credentials): Record<string, string> {
  return kind === "key" ? { "X-Api-Key": secret } : { Authorization: `Bearer ${secret}` };
}

import {
  hashSecret,
  MAX_KEY_HEADER,
  MIN_SECRET_LENGTH,
  newProjectKey,
  newSecret,
  parseProjectKey,
  type ProjectKey,
} from "../../rules/secrets.ts";
import type { ProjectStore } from "../../store/accounts/projects.ts";
import { UsageError } from "../terminal/errors.ts";

/** What the environment says of keys. */
export interface ConfiguredCredentials {
  projectKey: ProjectKey | undefined;
  adminToken: string | undefined;
}

/** Secrets that were made just now, to be shown once. */
export interface NewCredentials {
  projectKey?: ProjectKey;
  adminToken?: string;
}

/** How a person makes a secret that cannot be guessed, as the end of a sentence. */
const HOW_TO_MAKE = "make one with: openssl rand -hex 16";

/**
 * Reads the keys of the environment.
 *
 * @throws {UsageError} where one cannot be used or is easy to guess. The value itself is not repeated.
 */
export function readCredentials(env: Record<string, string | undefined>): ConfiguredCredentials {
  const text = env["KVDRIVE_PROJECT_KEY"] ?? "";
  const projectKey = text === "" ? undefined : parseProjectKey(text);
  if (text !== "" && projectKey === undefined) {
    throw new UsageError(
      "Bad value of KVDRIVE_PROJECT_KEY: it must be <project id>_<secret>, the id of 1 to 64 letters, digits and -",
    );
  }
  if (projectKey !== undefined) {
    requireLength(
      projectKey.secret,
      "The secret in KVDRIVE_PROJECT_KEY, which is all behind the first _,",
    );
  }
  const adminToken = env["KVDRIVE_ADMIN_TOKEN"] || undefined;
  if (adminToken !== undefined) {
    requireLength(adminToken, "KVDRIVE_ADMIN_TOKEN");
    requireSendable(adminToken);
  }
  return { projectKey, adminToken };
}

function requireLength({ length }: string, what: string): void {
  if (length >= MIN_SECRET_LENGTH) return;
  const characters = length === 1 ? "1 character" : `${length} characters`;
  throw new UsageError(
    `${what} has ${characters}, so others may guess it: it needs at least ${MIN_SECRET_LENGTH} random ones; ${HOW_TO_MAKE}`,
  );
}

/** Refuses a token that no `Authorization` header can hold, such as one with a line feed at its end. */
function requireSendable(token: string): void {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(token) && token.length <= MAX_KEY_HEADER) {
    return;
  }
  throw new UsageError(
    `Bad value of KVDRIVE_ADMIN_TOKEN: it must be ${MIN_SECRET_LENGTH} to ${MAX_KEY_HEADER} characters of ASCII, without a blank or line feed at its ends; ${HOW_TO_MAKE}`,
  );
}

/**
 * Makes what was given hold. On a store without a project, and none given, makes a first one; without an
 * administrator's token makes that too.
 */
export async function applyCredentials(
  projects: ProjectStore,
  given: ConfiguredCredentials,
): Promise<NewCredentials> {
  const made: NewCredentials = {};
  if (given.projectKey !== undefined) {
    await projects.ensure(given.projectKey.project, given.projectKey);
  } else if (await projects.isEmpty()) {
    made.projectKey = newProjectKey();
    await projects.ensure(made.projectKey.project, made.projectKey);
  }
  if (given.adminToken !== undefined) {
    await projects.setAdminToken(hashSecret(given.adminToken));
  } else {
    const token = newSecret();
    // Of several servers that start at once on a new store, one makes the token.
    if (await projects.setFirstAdminToken(hashSecret(token))) made.adminToken = token;
  }
  return made;
}

/** What is printed of secrets that were made just now; empty where there are none. */
export function startMessage(
  { projectKey, adminToken }: NewCredentials,
  address: string,
  curlFlags: string,
): string {
  const lines: string[] = [];
  if (projectKey !== undefined) {
    lines.push(
      `Project id:            ${projectKey.project}`,
      `Project key:           ${projectKey.text}`,
    );
  }
  if (adminToken !== undefined) lines.push(`Administrator's token: ${adminToken}`);
  if (lines.length === 0) return "";
  lines.unshift("These secrets are shown once: keep them as you keep passwords.", "");
  if (projectKey !== undefined) {
    lines.push(
      "",
      "Upload a first file:",
      `  curl ${curlFlags}-X POST -H 'X-Api-Key: ${projectKey.text}' -H 'Content-Type: text/plain' --data-binary 'Hello!' '${address}/v1/${projectKey.project}/first/files?name=hello.txt'`,
    );
  }
  return `${lines.join("\n")}\n\n`;
}

import {
  hashSecret,
  MAX_KEY_HEADER,
  MIN_SECRET_LENGTH,
  newProjectKey,
  newSecret,
  parseProjectKey,
  type ProjectKey,
} from "../../rules/secrets.ts";
import type { Store } from "../../store/store.ts";
import { UsageError } from "../terminal/output.ts";

export interface ConfiguredCredentials {
  projectKey: ProjectKey | undefined;
  adminToken: string | undefined;
}

/** New secrets, to be shown once. */
export interface NewCredentials {
  projectKey?: ProjectKey;
  adminToken?: string;
}

/** How to create a secret: a sentence. */
const HOW_TO_CREATE = "Create one with: openssl rand -hex 16";

/**
 * Reads the credentials of the environment.
 *
 * @throws {UsageError} if one is invalid or too short. The value is not repeated.
 */
export function readCredentials(env: Record<string, string | undefined>): ConfiguredCredentials {
  const text = env["KVDRIVE_PROJECT_KEY"] ?? "";
  const projectKey = text === "" ? undefined : parseProjectKey(text);
  if (text !== "" && projectKey === undefined) {
    throw new UsageError(
      "Bad value of KVDRIVE_PROJECT_KEY: it must be <project id>_<secret>, with an id of 1 to 64 letters, digits and -",
    );
  }
  if (projectKey !== undefined) {
    requireLength(
      projectKey.secret,
      "The secret in KVDRIVE_PROJECT_KEY, after the first _,",
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
    `${what} is too short: it has ${characters}, and needs at least ${MIN_SECRET_LENGTH} random ones. ${HOW_TO_CREATE}`,
  );
}

/** @throws {UsageError} for a token that no `Authorization` header can hold, such as one that ends with a line feed. */
function requireSendable(token: string): void {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(token) && token.length <= MAX_KEY_HEADER) {
    return;
  }
  throw new UsageError(
    `Bad value of KVDRIVE_ADMIN_TOKEN: it must be ${MIN_SECRET_LENGTH} to ${MAX_KEY_HEADER} ASCII characters, without spaces or line feeds at its ends. ${HOW_TO_CREATE}`,
  );
}

/**
 * Stores the configured credentials. Creates a first project if there is none, an administrator's token if there is
 * none, and the key that signs links if there is none.
 */
export async function applyCredentials(
  { projects, adminToken, links }: Pick<Store, "projects" | "adminToken" | "links">,
  configured: ConfiguredCredentials,
): Promise<NewCredentials> {
  const created: NewCredentials = {};
  if (configured.projectKey !== undefined) {
    await projects.ensure(configured.projectKey.project, configured.projectKey);
  } else if (await projects.isEmpty()) {
    created.projectKey = newProjectKey();
    await projects.ensure(created.projectKey.project, created.projectKey);
  }
  if (configured.adminToken !== undefined) {
    await adminToken.set(hashSecret(configured.adminToken));
  } else {
    const token = newSecret();
    // If several servers start on a new store, one of them creates the token.
    if (await adminToken.setFirst(hashSecret(token))) created.adminToken = token;
  }
  await links.ensureKey();
  return created;
}

/** Returns the message that shows new secrets; empty if there are none. */
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
  lines.unshift("These secrets are shown only once: store them like passwords.", "");
  if (projectKey !== undefined) {
    lines.push(
      "",
      "Upload a first file:",
      `  curl ${curlFlags}-X POST -H 'X-Api-Key: ${projectKey.text}' -H 'Content-Type: text/plain' --data-binary 'Hello!' '${address}/v1/${projectKey.project}/first/files?name=hello.txt'`,
    );
  }
  return `${lines.join("\n")}\n\n`;
}

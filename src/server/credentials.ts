import {
  hashSecret,
  MAX_KEY_HEADER,
  MIN_SECRET_LENGTH,
  newProjectKey,
  newSecret,
  parseProjectKey,
  type ProjectKey,
} from "../rules/secrets.ts";
import type { Store } from "../store/store.ts";
import { UsageError } from "../cli/terminal/output.ts";

export interface ConfiguredCredentials {
  projectKey: ProjectKey | undefined;
  adminToken: string | undefined;
}

/** New secrets, to be shown once. */
export interface NewCredentials {
  projectKey?: ProjectKey;
  adminToken?: string;
}

/** How the projects begin that a start creates. */
export interface NewProjects {
  trashDays: number;
}

type CredentialStore = Pick<Store, "projects" | "adminToken" | "links">;

/** The name of the project that the first start creates. */
const FIRST_PROJECT_NAME = "My files";

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

/** Stores the configured credentials, and the key that signs links if there is none. */
export async function storeCredentials(
  { projects, adminToken, links }: CredentialStore,
  configured: ConfiguredCredentials,
  { trashDays }: NewProjects,
): Promise<void> {
  if (configured.projectKey !== undefined) {
    await projects.ensure(configured.projectKey.project, configured.projectKey, { trashDays });
  }
  if (configured.adminToken !== undefined) await adminToken.set(hashSecret(configured.adminToken));
  await links.ensureKey();
}

/** Stores the configured credentials, and creates what is not configured. */
export async function applyCredentials(
  store: CredentialStore,
  configured: ConfiguredCredentials,
  settings: NewProjects,
): Promise<NewCredentials> {
  await storeCredentials(store, configured, settings);
  return await createCredentials(store, configured, settings);
}

/** Creates what is not configured: a first project if there is none, and an administrator's token if there is none. */
export async function createCredentials(
  store: CredentialStore,
  configured: ConfiguredCredentials,
  settings: NewProjects,
): Promise<NewCredentials> {
  const created: NewCredentials = {};
  if (configured.projectKey === undefined && await store.projects.isEmpty()) {
    created.projectKey = newProjectKey();
    const { project } = created.projectKey;
    const { trashDays } = settings;
    const first = { name: FIRST_PROJECT_NAME, trashDays };
    await store.projects.ensure(project, created.projectKey, first);
  }
  if (configured.adminToken === undefined) {
    const token = newSecret();
    // If several servers start on a new store, one of them creates the token.
    if (await store.adminToken.setFirst(hashSecret(token))) created.adminToken = token;
  }
  return created;
}

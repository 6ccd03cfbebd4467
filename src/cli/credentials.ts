import { MIN_SECRET } from "../drive/limits.ts";
import {
  hashSecret,
  newProjectKey,
  newSecret,
  parseProjectKey,
  type ProjectKey,
} from "../drive/secrets.ts";
import type { ProjectStore } from "../store/project_store.ts";
import { UsageError } from "./usage_error.ts";

/** What the environment says of keys. */
export interface GivenCredentials {
  projectKey: ProjectKey | undefined;
  adminToken: string | undefined;
}

/** Secrets that were made just now, to be shown once. */
export interface NewCredentials {
  projectKey?: ProjectKey;
  adminToken?: string;
}

/** @throws {UsageError} where a variable holds something that cannot be used. The value itself is not repeated. */
export function givenCredentials(env: Record<string, string | undefined>): GivenCredentials {
  const text = env["KVDRIVE_PROJECT_KEY"] ?? "";
  const projectKey = text === "" ? undefined : parseProjectKey(text);
  if (text !== "" && projectKey === undefined) {
    throw new UsageError(
      "Bad value of KVDRIVE_PROJECT_KEY: it must be <project id>_<secret>, the id of 1 to 64 letters, digits and -",
    );
  }
  return { projectKey, adminToken: env["KVDRIVE_ADMIN_TOKEN"] || undefined };
}

/** A sentence for each given secret that is easier to guess than a secret should be. */
export function weaknessesOf({ projectKey, adminToken }: GivenCredentials): string[] {
  const secrets = { KVDRIVE_PROJECT_KEY: projectKey?.secret, KVDRIVE_ADMIN_TOKEN: adminToken };
  return Object.entries(secrets).flatMap(([variable, secret]) =>
    secret === undefined || secret.length >= MIN_SECRET
      ? []
      : [`The secret in ${variable} has fewer than ${MIN_SECRET} characters: others may guess it`]
  );
}

/**
 * Makes what was given hold. On a store without a project, and none given, makes a first one; without an
 * administrator's token makes that too.
 */
export async function establish(
  projects: ProjectStore,
  given: GivenCredentials,
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
export function welcomeText(
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

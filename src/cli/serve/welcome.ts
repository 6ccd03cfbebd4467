import { signInUrl } from "../../api/sessions/session.ts";
import { MINUTE } from "../../rules/units.ts";
import { SIGN_IN_CODE_TIME } from "../../store/sessions/sign_ins.ts";
import type { NewCredentials } from "../../server/credentials.ts";
import type { Store } from "../../store/store.ts";
import { VERSION } from "../../version.ts";
import type { ServeOptions } from "../options/serve_options.ts";
import { announce, type Environment, logFailure } from "../terminal/output.ts";
import { printableJson, type Style, styleFor } from "../terminal/text.ts";

/** The URLs that a server listens on. */
export interface Addresses {
  address: string;
  /** That of the gate; `undefined` if it is off. */
  appsAddress: string | undefined;
  /** That of S3; `undefined` if it is off. */
  s3Address: string | undefined;
}

/** The content of the message that a server prints when it starts. */
export interface Start extends Addresses {
  /** Secrets that this start created, to be shown once. */
  created: NewCredentials;
  /** What `curl` needs to trust the server. */
  curlFlags: string;
}

/**
 * Announces a server that is ready. The last line is always `kvdrive listening on <address>`. Before it come the secrets that
 * were created: in a welcome, or as JSON with `--json`.
 */
export async function announceStart(
  start: Start,
  store: Pick<Store, "signIns">,
  options: Pick<ServeOptions, "json" | "publicUrl">,
  env: Environment,
): Promise<void> {
  const { address, created } = start;
  const isFirst = created.projectKey !== undefined || created.adminToken !== undefined;
  if (options.json) announce(`${jsonLine(start)}\n`);
  else if (isFirst) {
    const code = await createSignInCode(store);
    announce(welcomeText({ ...start, code }, options, styleFor(Deno.stdout, env)));
  } else {
    announce(otherAddresses(start));
    announce(`The dashboard is at ${address}/\n`);
  }
  announce(`kvdrive listening on ${address}\n`);
}

/** Returns a code that signs the administrator in once. Without one, the welcome still has to show the secrets. */
async function createSignInCode({ signIns }: Pick<Store, "signIns">): Promise<string | undefined> {
  try {
    return (await signIns.createCode("administrator"))?.code;
  } catch (error) {
    logFailure(error);
    return undefined;
  }
}

/** Returns a line for each further address of the server. */
function otherAddresses({ appsAddress, s3Address }: Start): string {
  const applications = appsAddress === undefined ? "" : `Applications are at ${appsAddress}\n`;
  return applications + (s3Address === undefined ? "" : `S3 is at ${s3Address}\n`);
}

function jsonLine(
  { address, appsAddress, s3Address, created: { projectKey, adminToken } }: Start,
): string {
  return printableJson({
    address,
    apps_address: appsAddress ?? null,
    s3_address: s3Address ?? null,
    project_id: projectKey?.project ?? null,
    project_key: projectKey?.text ?? null,
    admin_token: adminToken ?? null,
  });
}

/** Returns the welcome of the first start. @param code Signs in to the dashboard. */
export function welcomeText(
  start: Start & { code: string | undefined },
  { publicUrl }: Pick<ServeOptions, "publicUrl">,
  { bold, dim }: Style,
): string {
  const { address, created, curlFlags, code } = start;
  const origin = publicUrl ?? reachable(address);
  const minutes = SIGN_IN_CODE_TIME / MINUTE;
  const dashboard = code === undefined
    ? [`  ${origin}/`, dim("  Sign in with the administrator's token.")]
    : [
      `  ${signInUrl(origin, code)}`,
      dim(`  This link signs one browser in, once, within ${minutes} minutes.`),
    ];
  const lines = [
    bold(`Welcome to kvdrive ${VERSION}`),
    "",
    startMessage(created, origin, curlFlags).trimEnd(),
    "",
    bold("Open the dashboard"),
    ...dashboard,
    "",
    bold("What next"),
    "  kvdrive help            commands for files, projects, keys and backups",
    "  kvdrive help serve      every option of the server",
    "  kvdrive install         run the server as a service",
    dim("  Ctrl-C stops the server. The next start finds the same data."),
    "",
  ];
  return `${lines.join("\n")}\n${otherAddresses(start)}`;
}

/** Returns an address that a browser on this machine can open, also if the server listens on all interfaces. */
function reachable(address: string): string {
  return address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
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

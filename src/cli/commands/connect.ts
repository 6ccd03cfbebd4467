import { resolve } from "@std/path/resolve";
import {
  commandRetrier,
  Connection,
  type Credentials,
  parseCredentials,
  type RequestReport,
} from "../../client/connection.ts";
import { RateLimiter } from "../../rules/concurrency.ts";
import { failureReason } from "../../rules/system_error.ts";
import { parseValue } from "../options/arguments.ts";
import type { Arguments } from "../options/command.ts";
import { BANDWIDTH, DURATION_OR_ZERO } from "../options/value_types.ts";
import {
  credentialsOf,
  type Profile,
  ProfileFile,
  requireProfile,
  requireProfileName,
} from "./account/profile_file.ts";
import {
  CommandError,
  type Environment,
  printError,
  printNotice,
  UsageError,
} from "../terminal/output.ts";
import { printable, styleFor } from "../terminal/text.ts";
import { DEFAULT_RETRY_FOR, DEFAULT_URL } from "./defaults.ts";

/** Where messages go while a command runs. */
export interface Messages {
  printNotice(sentence: string): void;
  /** Prints a line as it is. */
  printLine(line: string): void;
}

/** Messages on standard error, for commands without a progress bar. */
const PLAIN_MESSAGES: Messages = { printNotice, printLine: printError };

/** A server that was chosen, and what opens it. */
export interface ServerChoice {
  url: string;
  credentials: Credentials | undefined;
  /** The file with certificates of further authorities to trust. */
  cacert: string | undefined;
  /** The name of the profile that the address is from. */
  profile?: string | undefined;
  /** Whether it is the default, as nothing names a server. */
  isDefault?: boolean;
}

/**
 * Returns the server that the options, the environment or the current profile name, in this order, else the default. A
 * secret of a profile is for the address of that profile only.
 */
export async function chooseServer(args: Arguments, env: Environment): Promise<ServerChoice> {
  const named = args.get("profile");
  if (named !== undefined) requireProfileName(named);
  const given = args.get("url") ??
    (named === undefined ? env["KVDRIVE_URL"] || undefined : undefined);
  const own = await ownSecret(args, named === undefined ? env : {});
  // With an address and a secret the profiles do not matter, not even a damaged file of them.
  const isComplete = given !== undefined && own !== undefined && named === undefined;
  const found = isComplete ? undefined : await currentProfile(env, named);
  const url = given ?? found?.profile.url;
  const isOfProfile = found !== undefined && isSameServer(url, found.profile.url);
  return {
    url: url ?? DEFAULT_URL,
    credentials: own ?? (isOfProfile ? credentialsOf(found.profile) : undefined),
    cacert: args.get("cacert") ?? (isOfProfile ? found.profile.cacert : undefined),
    profile: isOfProfile ? found.name : undefined,
    isDefault: url === undefined,
  };
}

/** Returns the secret of `--key-file` or of `KVDRIVE_KEY`; `undefined` if neither is given. */
async function ownSecret(args: Arguments, env: Environment): Promise<Credentials | undefined> {
  const file = args.get("key-file");
  const text = file === undefined
    ? env["KVDRIVE_KEY"] ?? ""
    : (await readOptionFile("--key-file", file)).trim();
  if (text === "" && file === undefined) return undefined;
  const credentials = parseCredentials(text);
  if (credentials !== undefined) return credentials;
  throw new CommandError(
    "The project key must look like <project id>_<secret>, as the server printed it. Check KVDRIVE_KEY or the file of --key-file",
  );
}

async function currentProfile(
  env: Environment,
  named: string | undefined,
): Promise<{ name: string; profile: Profile } | undefined> {
  const all = await new ProfileFile(env).read();
  const name = named ?? all.current;
  return name === undefined ? undefined : { name, profile: requireProfile(all, name) };
}

function isSameServer(one: string | undefined, other: string): boolean {
  const normal = (url = "") => URL.canParse(url) ? new URL(url).href.replace(/\/+$/, "") : url;
  return normal(one) === normal(other);
}

/** Connects to the server of the options, the environment or the profile. @throws {UsageError} if there is no key. */
export async function connect(
  args: Arguments,
  env: Environment,
  messages?: Messages,
): Promise<Connection> {
  return await connectTo(await chooseServer(args, env), args, env, messages);
}

/** Connects to a server. @throws {UsageError} if there is no key. */
export async function connectTo(
  { url, credentials, cacert }: ServerChoice,
  args: Arguments,
  env: Environment,
  messages: Messages = PLAIN_MESSAGES,
): Promise<Connection> {
  if (credentials === undefined) {
    throw new UsageError(
      "No project key: set the variable KVDRIVE_KEY, give a file that contains it with --key-file, or run kvdrive login",
    );
  }
  const text = args.get("retry-for") ?? DEFAULT_RETRY_FOR;
  const retryFor = parseValue({ text, source: "--retry-for" }, DURATION_OR_ZERO);
  const project = args.get("project");
  if (project !== undefined && credentials.kind === "key" && project !== credentials.project) {
    throw new UsageError("The project key belongs to another project than --project says");
  }
  const { dim } = styleFor(Deno.stderr, env);
  const onRequest = (one: RequestReport) => messages.printLine(`${dim(requestLine(one))}\n`);
  const connection = new Connection({
    url,
    credentials,
    project,
    retrier: commandRetrier({ retryFor, onWait: (sentence) => messages.printNotice(sentence) }),
    authorities: cacert === undefined ? undefined : await readAuthorities(cacert),
    limiter: limiterOf(args.get("bandwidth")),
    onRequest: args.has("verbose") ? onRequest : undefined,
  });
  if (connection.isExposed) {
    messages.printNotice(
      `Warning: the key is sent to ${connection.origin} unencrypted. Use https://`,
    );
  }
  return connection;
}

function limiterOf(text: string | undefined): RateLimiter | undefined {
  if (text === undefined) return undefined;
  return new RateLimiter(parseValue({ text, source: "--bandwidth" }, BANDWIDTH));
}

/** "GET /v1/album/photos/files?limit=10 200 12 ms" */
function requestLine({ method, path, status, time }: RequestReport): string {
  return printable(`${method} ${path} ${status ?? "failed"} ${Math.round(time)} ms`);
}

async function readAuthorities(path: string): Promise<string> {
  const text = await readOptionFile("--cacert", path);
  if (/-----BEGIN (TRUSTED )?CERTIFICATE-----/.test(text)) return text;
  throw new UsageError(`The file of --cacert, ${path}, has no certificate in PEM`);
}

async function readOptionFile(option: string, path: string): Promise<string> {
  try {
    return await Deno.readTextFile(resolve(path));
  } catch (error) {
    const reason = failureReason(error);
    throw new UsageError(`Cannot read ${path}, the file of ${option}: ${reason}`, { cause: error });
  }
}

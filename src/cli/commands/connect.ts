import { resolve } from "@std/path/resolve";
import { Connection, type RequestReport } from "../../client/connection.ts";
import { Retrier } from "../../client/retrier.ts";
import { RateLimiter } from "../../rules/transfer/rate_limiter.ts";
import { failureReason } from "../../rules/system_error.ts";
import { parseValue } from "../options/arguments.ts";
import type { Arguments } from "../options/command.ts";
import { BANDWIDTH, DURATION_OR_ZERO } from "../options/value_types.ts";
import { chooseServer, noSecret, ownSecret, type ServerChoice } from "../profiles/server_choice.ts";
import { type Environment, printError, printNotice, UsageError } from "../terminal/output.ts";
import { styleFor } from "../terminal/style.ts";
import { printable } from "../terminal/text.ts";
import { DEFAULT_RETRY_FOR, DEFAULT_URL } from "./defaults.ts";

/** Where messages go while a command runs. */
export interface Messages {
  printNotice(sentence: string): void;
  /** Prints a line as it is. */
  printLine(line: string): void;
}

/** Messages on standard error, for commands without a progress bar. */
export const PLAIN_MESSAGES: Messages = {
  printNotice,
  printLine: printError,
};

/** Connects to the server of the options, the environment or the profile. @throws {UsageError} if there is no key. */
export async function connect(
  args: Arguments,
  env: Environment,
  messages: Messages,
): Promise<Connection> {
  const choice = await serverOf(args, env) ??
    {
      url: DEFAULT_URL,
      credentials: await ownSecret(args, env, readKeyFile),
      cacert: args.get("cacert"),
      profile: undefined,
    };
  return await connectTo(choice, args, env, messages);
}

/** Returns the server of the options, the environment or the profile; `undefined` if none of them names one. */
export async function serverOf(
  args: Arguments,
  env: Environment,
): Promise<ServerChoice | undefined> {
  return await chooseServer(args, env, readKeyFile);
}

/** Connects to a server. @throws {UsageError} if there is no key. */
export async function connectTo(
  { url, credentials, cacert }: ServerChoice,
  args: Arguments,
  env: Environment,
  { printNotice, printLine }: Messages,
): Promise<Connection> {
  if (credentials === undefined) throw noSecret();
  const text = args.get("retry-for") ?? DEFAULT_RETRY_FOR;
  const retryFor = parseValue({ text, source: "--retry-for" }, DURATION_OR_ZERO);
  const project = args.get("project");
  if (project !== undefined && credentials.kind === "key" && project !== credentials.project) {
    throw new UsageError("The project key belongs to another project than --project says");
  }
  const { dim } = styleFor(Deno.stderr, env);
  const connection = new Connection({
    url,
    credentials,
    project,
    retrier: new Retrier({ retryFor, onWait: printNotice }),
    authorities: cacert === undefined ? undefined : await readAuthorities(cacert),
    limiter: limiterOf(args.get("bandwidth")),
    onRequest: args.has("verbose") ? (one) => printLine(`${dim(requestLine(one))}\n`) : undefined,
  });
  if (connection.isExposed) {
    printNotice(`Warning: the key is sent to ${connection.origin} unencrypted. Use https://`);
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

async function readKeyFile(path: string): Promise<string> {
  return await readOptionFile("--key-file", path);
}

async function readOptionFile(option: string, path: string): Promise<string> {
  try {
    return await Deno.readTextFile(resolve(path));
  } catch (error) {
    const reason = failureReason(error);
    throw new UsageError(`Cannot read ${path}, the file of ${option}: ${reason}`, { cause: error });
  }
}

import { type Environment, UsageError } from "../terminal/output.ts";
import type { ValueType } from "./value_types.ts";

/** An option of a command: `--name`. */
export interface OptionSpec {
  name: string;
  /** Its short form: `n` for `-n`. */
  short?: string;
  /** The kind of its value, as the help shows it; `undefined` for a switch. */
  value?: string;
  /** Whether it may be given several times: see `Arguments.all`. */
  isList?: true;
  isRequired?: true;
  /** Whether the value must not be readable by other users of the machine. */
  isSecret?: true;
  help: string;
  /** Its default, as it would be typed. */
  default?: string;
  /** What applies without the option, where no value says that. */
  unset?: string;
  /** Its environment variable, if it is not an option of `serve`. */
  variable?: string;
}

/** Returns the environment variable of an option of `serve`. */
export function variableOf(name: string): string {
  return `KVDRIVE_${name.toUpperCase().replaceAll("-", "_")}`;
}

export interface OptionValue {
  text: string;
  /** Its source, for messages: the option or the variable. */
  source: string;
}

/** The values of options from the command line, which takes precedence, and the environment. */
export class OptionValues {
  readonly #defaults: ReadonlyMap<string, string | undefined>;

  /** @param given The values of options on the command line, by their names. */
  constructor(
    specs: readonly OptionSpec[],
    private readonly given: ReadonlyMap<string, string>,
    private readonly env: Environment,
  ) {
    this.#defaults = new Map(specs.map((spec) => [spec.name, spec.default]));
  }

  /** Returns a value that was given, not a default. */
  get(name: string): OptionValue | undefined {
    const flag = this.given.get(name);
    if (flag !== undefined) return { text: flag, source: `--${name}` };
    const source = variableOf(name);
    const text = this.env[source] ?? "";
    return text === "" ? undefined : { text, source };
  }

  /** Returns the text of a value, or of its default. */
  text(name: string): string | undefined {
    return this.get(name)?.text ?? this.#defaults.get(name);
  }

  /** Parses a value or its default. @throws {UsageError} if it is invalid. */
  parsed<T>(name: string, type: ValueType<T>): T {
    const text = this.text(name);
    if (text === undefined) throw new TypeError(`The option --${name} has no default`);
    return parseValue(this.get(name) ?? { text, source: `the default of --${name}` }, type);
  }

  /** Parses a value that was given; `undefined` if it was not. @throws {UsageError} if it is invalid. */
  optional<T>(name: string, type: ValueType<T>): T | undefined {
    const found = this.get(name);
    return found && parseValue(found, type);
  }
}

/** Parses the value of an option. @throws {UsageError} if it is invalid. */
export function parseValue<T>({ text, source }: OptionValue, { parse, expected }: ValueType<T>): T {
  const parsed = parse(text);
  if (parsed !== undefined) return parsed;
  throw new UsageError(`Bad value "${text}" of ${source}: it must be ${expected}`);
}

/**
 * Returns the URL of a shared store. `--data` takes precedence over the variable KVDRIVE_KV.
 *
 * @throws {UsageError} if it is invalid. The value is not repeated: it may hold a secret.
 */
export function kvOf(values: OptionValues): string | undefined {
  const isFolderWanted = values.get("data")?.source === "--data";
  const kv = values.get("kv");
  if (kv === undefined || (isFolderWanted && kv.source === variableOf("kv"))) return undefined;
  const { text, source } = kv;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && ["http:", "https:"].includes(url.protocol) &&
    url.username === "" && url.password === "";
  if (isPlain) return text;
  throw new UsageError(
    `Bad value of ${source}: it must be a URL like https://kv.example.com, without a user or password`,
  );
}

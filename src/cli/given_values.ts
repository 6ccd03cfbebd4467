import { type OptionSpec, parseFlags } from "./flags.ts";
import { UsageError } from "./usage_error.ts";
import type { Form } from "./value_forms.ts";
import { quoted } from "./visible.ts";

export type Environment = Record<string, string | undefined>;

/** The name of the environment variable of an option. */
export function variableOf(name: string): string {
  return `KVDRIVE_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** The value of an option. */
export interface Given {
  text: string;
  /** Where it came from, as the person who gave it knows it. */
  source: string;
}

/** What the command line and the environment say. The command line wins. */
export class GivenValues {
  readonly #values = new Map<string, Given>();

  /**
   * @param advice What stands behind a colon in errors: where the right form is found.
   * @throws {UsageError} on anything that is not one of the options.
   */
  constructor(specs: readonly OptionSpec[], args: string[], env: Environment, advice: string) {
    const { options, operands: [stray] } = parseFlags(specs, args, advice);
    if (stray !== undefined) throw new UsageError(`Unknown argument ${quoted(stray)}: ${advice}`);
    for (const { name } of specs) {
      const flag = options.get(name);
      const variable = env[variableOf(name)] ?? "";
      if (flag !== undefined) this.#values.set(name, { text: flag, source: `--${name}` });
      else if (variable !== "") {
        this.#values.set(name, { text: variable, source: variableOf(name) });
      }
    }
  }

  get(name: string): Given | undefined {
    return this.#values.get(name);
  }

  text(name: string): string | undefined {
    return this.#values.get(name)?.text;
  }

  /** The value of an option, or another where it is not given. @throws {UsageError} where it has not its form. */
  value<T, A>(name: string, absent: A, { parse, wanted }: Form<T>): T | A {
    const found = this.#values.get(name);
    if (found === undefined) return absent;
    const parsed = parse(found.text);
    if (parsed !== undefined) return parsed;
    throw new UsageError(`Bad value "${found.text}" of ${found.source}: it must be ${wanted}`);
  }
}

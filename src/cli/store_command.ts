import { Call } from "./call.ts";
import type { Command, StoreCommand } from "./command.ts";
import { demandConsentPossible } from "./confirm.ts";
import { type OptionSpec, parseFlags } from "./flags.ts";
import { UsageError } from "./usage_error.ts";

const EVERYWHERE: readonly OptionSpec[] = [
  { name: "data", value: "DIR", help: "folder of the store (KVDRIVE_DATA, else ./data)" },
  { name: "kv", value: "URL", help: "a shared store in place of the folder (KVDRIVE_KV)" },
  { name: "json", help: "print what the HTTP API answers" },
];

const YES: OptionSpec = { name: "yes", short: "y", help: "do it without asking" };

/** Makes a command of the program of one that works on the store. */
export function storeCommand(command: StoreCommand): Command {
  const { name, summary, asks, options = [] } = command;
  const specs = [...options, ...(asks ? [YES] : []), ...EVERYWHERE];
  const form = formOf(command);
  return {
    name,
    form,
    summary,
    options: specs,
    async run(args, env) {
      const advice = `the form is ${form}`;
      const flags = parseFlags(specs, args, advice);
      const values = flags.options;
      for (const [operand, value] of assign(command, flags.operands, advice)) {
        values.set(operand, value);
      }
      for (const option of options) {
        if (option.required && !values.has(option.name)) {
          throw new UsageError(`The option --${option.name} is missing: ${advice}`);
        }
      }
      if (asks && !values.has("yes")) demandConsentPossible(form);
      await command.run(new Call(values, env, command.makesStore ?? false));
    },
  };
}

function formOf({ name, operands = [], optional = [], options = [], asks }: StoreCommand): string {
  const flags = options.map(({ name, value, required }) => {
    const flag = value === undefined ? `--${name}` : `--${name} ${value}`;
    return required ? flag : `[${flag}]`;
  });
  const words = [...operands, ...optional.map((operand) => `[${operand}]`), ...flags];
  return ["kvdrive", name, ...words, ...(asks ? ["[--yes]"] : [])].join(" ");
}

/** Gives each word its name. What is too much is not repeated: it may be a secret. */
function assign(
  { operands = [], optional = [] }: StoreCommand,
  words: readonly string[],
  advice: string,
): [operand: string, value: string][] {
  const missing = operands.find((_, index) => (words[index] ?? "") === "");
  if (missing !== undefined) throw new UsageError(`${missing} is missing: ${advice}`);
  const all = [...operands, ...optional];
  if (words.length > all.length) throw new UsageError(`There are too many words: ${advice}`);
  return words.map((word, index) => [all[index] ?? "", word]);
}

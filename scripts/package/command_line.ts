import { parseArgs, type ParseArgsConfig } from "node:util";

const encoder = new TextEncoder();

/** Writes to standard output, at once. */
export function print(text: string): void {
  let rest = encoder.encode(text);
  while (rest.byteLength > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}

type Options = NonNullable<ParseArgsConfig["options"]>;

type Values<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T }>
>["values"];

/**
 * Reads the options of a script, which has an option `help`. The help is printed where it is asked for, and with a
 * sentence on the problem if the command line is invalid; then the exit status is returned.
 *
 * @param problemOf Finds what is wrong with the values, as a sentence.
 */
export function readOptions<T extends Options>(
  args: string[],
  options: T,
  help: string,
  problemOf: (values: Values<T>) => string | undefined = () => undefined,
): Values<T> | number {
  const refuse = (problem: string): number => {
    print(`${problem}\n\n${help}`);
    return 2;
  };
  try {
    const { values } = parseArgs({ args, options });
    const problem = problemOf(values);
    if (problem !== undefined) return refuse(problem);
    if (!("help" in values && values.help)) return values;
    print(help);
    return 0;
  } catch (error) {
    if (error instanceof TypeError) return refuse(error.message);
    throw error;
  }
}

import { assertEquals } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { Folder, namesIn } from "../../support/command.ts";
import { assertSameBytes, MIB, patternBytes, utf8 } from "../../support/bytes.ts";
import { S3Site, type Transport, TRANSPORTS } from "./site.ts";

/** How long a program may take, in milliseconds. */
const PATIENCE = 120_000;

export interface Output {
  code: number;
  stdout: string;
  stderr: string;
}

/** Whether a program is in the PATH. */
export function isInstalled(program: string): boolean {
  const args = ["-c", 'command -v "$1"', "sh", program];
  return new Deno.Command("sh", { args, stdout: "null" }).outputSync().success;
}

/** Runs a client with the environment of a site and nothing else. */
export async function runProgram(
  site: S3Site,
  [program, ...args]: readonly [string, ...string[]],
  { env = {}, cwd }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<Output> {
  const process = new Deno.Command(program, {
    args,
    cwd: cwd ?? site.folder.path,
    env: { ...site.environment(), ...env },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = process.output();
  try {
    const { code, stdout, stderr } = await deadline(output, PATIENCE);
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  } catch (error) {
    process.kill("SIGKILL");
    await output;
    throw error;
  }
}

/** Runs a client that has to succeed. @returns its standard output. */
export async function succeed(
  site: S3Site,
  command: readonly [string, ...string[]],
  options: { env?: Record<string, string>; cwd?: string } = {},
): Promise<string> {
  const { code, stdout, stderr } = await runProgram(site, command, options);
  assertEquals(code, 0, `${command.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

type Step = (sentence: string, run: () => Promise<void>) => Promise<void>;

/** A test of a program over http and over https; left out where the program is not installed. */
export function programTest(
  program: string,
  run: (site: S3Site, step: Step) => Promise<void>,
  transports: readonly Transport[] = TRANSPORTS,
): void {
  for (const transport of transports) {
    Deno.test({
      name: `${program} over ${transport}, if it is installed`,
      ignore: !isInstalled(program),
      async fn(t) {
        await using site = await S3Site.start(transport);
        await run(site, async (sentence, fn) => {
          await t.step(sentence, fn);
        });
      },
    });
  }
}

/** A folder of files, by their paths. */
export type Tree = Record<string, Uint8Array<ArrayBuffer>>;

/** Files as people have them: large, empty, with names of every kind. */
export function sampleTree(): Tree {
  return {
    "empty": new Uint8Array(),
    "small.txt": utf8("Hello, world\n"),
    "name with spaces.txt": utf8("spaces"),
    "plus+percent%41.txt": utf8("plus"),
    "été ключ 日本 🦖.txt": utf8("unicode"),
    "it's [a] {test} & #1!.txt": utf8("marks"),
    "folder/inner/deep.bin": patternBytes(300_000, 2),
    "folder/medium.bin": patternBytes(6 * MIB + 1, 3),
    "folder/large.bin": patternBytes(33 * MIB + 7, 4),
  };
}

export async function writeTree(folder: string, tree: Tree): Promise<void> {
  for (const [name, bytes] of Object.entries(tree)) {
    const path = `${folder}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeFile(path, bytes);
  }
}

/** Fails unless a folder has exactly these files. */
export async function assertTree(folder: string, tree: Tree): Promise<void> {
  const found = (await filesIn(folder)).sort();
  assertEquals(found, Object.keys(tree).sort());
  for (const [name, bytes] of Object.entries(tree)) {
    assertSameBytes(await Deno.readFile(`${folder}/${name}`), bytes, `bytes of ${name}`);
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  for (const name of await namesIn(folder)) {
    const path = `${folder}/${name}`;
    if (!(await Deno.stat(path)).isDirectory) names.push(name);
    else names.push(...(await filesIn(path)).map((inner) => `${name}/${inner}`));
  }
  return names;
}

/** A folder with the sample files, and an empty one for what comes back. */
export async function sampleFolders(): Promise<
  { from: string; to: string; tree: Tree } & AsyncDisposable
> {
  const folder = await Folder.make();
  const [from, to, tree] = [folder.at("from"), folder.at("to"), sampleTree()];
  await writeTree(from, tree);
  await Deno.mkdir(to);
  return { from, to, tree, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

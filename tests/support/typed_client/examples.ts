import { Page, ROOT_PATH } from "../cli/docs.ts";

const CLIENT = `${ROOT_PATH}src/client/`;

/** A file of the client's sources, with what it declares. */
interface Source {
  text: string;
  path: string;
}

/** An example of the documentation. */
export interface Example {
  /** The export, "the module", or a page. */
  of: string;
  code: string;
}

/** Returns the names that the client exports, the examples in their docstrings, and the blocks of its page. */
export async function readExamples(): Promise<{ exports: string[]; examples: Example[] }> {
  const sources = await readSources();
  const [main] = sources;
  if (main === undefined) throw new TypeError("The client has a main file");
  const exports = exportsOf(main.text, sources);
  const examples = sources.flatMap(({ text }) => docstringsOf(text)).filter(({ of }) =>
    of === MODULE || exports.includes(of)
  );
  const page = await Page.read("docs/client.md");
  const blocks = page.blocks("ts run").map((code) => `{\n${code}}\n`);
  return { exports, examples: [...examples, { of: page.path, code: blocks.join("") }] };
}

const MODULE = "the module";

async function readSources(): Promise<Source[]> {
  const paths = ["mod.ts"];
  for await (const { name } of Deno.readDir(`${CLIENT}api`)) {
    if (name.endsWith(".ts") && !name.endsWith("_test.ts")) paths.push(`api/${name}`);
  }
  return await Promise.all(
    paths.map(async (path) => ({ path, text: await Deno.readTextFile(CLIENT + path) })),
  );
}

const DECLARED = /^export (?:async )?(?:function|class|interface|type|const) (\w+)/gm;

/** What a file exports: its own declarations, and those of others. */
function exportsOf(text: string, sources: readonly Source[]): string[] {
  const own = [...text.matchAll(DECLARED)].map(([, name = ""]) => name);
  const others = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from/gm)].flatMap((
    [, names = ""],
  ) => names.split(",").map((name) => name.trim().replace(/^type /, "")).filter(Boolean));
  const whole = [...text.matchAll(/^export (?:type )?\* from "\.\/(.+)";/gm)].flatMap((
    [, path],
  ) => exportsOf(sources.find((source) => source.path === path)?.text ?? "", sources));
  return [...own, ...others, ...whole];
}

/** A docstring, and what it is about: a declaration, or with `@module` the whole file. */
const DOCSTRING =
  /^\/\*\*\n((?: \*.*\n)+?) \*\/\n(?:export (?:async )?(?:function|class|interface|type|const) (\w+))?/gm;

function docstringsOf(text: string): Example[] {
  return [...text.matchAll(DOCSTRING)].flatMap(([, doc = "", name = MODULE]) => {
    const plain = doc.replaceAll(/^ \* ?/gm, "");
    return [...plain.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => ({
      of: name,
      code,
    }));
  });
}

/** `expression; // value` */
const CLAIM = /^(\s*)(?!const |let |for |if |throw |return |\/\/)(\S.*); \/\/ (.+)$/;

/** What a value can look like: the examples also have comments in prose, and values with `…`. */
const VALUE = /^(?:-?\d+|true|false|undefined|null|"[^"…]*"|\[[^…]*\])$/;

/** Returns a module with a function for each example. Values in comments behind expressions are compared. */
export function exampleModule(exports: readonly string[], examples: readonly Example[]): string {
  const functions = examples.map(({ of, code }, number) => {
    // The address and the key of the page are placeholders.
    const own = code.replaceAll(/^import .*\n/gm, "").replace(/"p1_…"/, "key").replace(
      /url: "https:\/\/files.example.com", key: key/,
      "url, key",
    );
    const lines = own.split("\n").map((line) => {
      const [, indent = "", expression = "", value = ""] = CLAIM.exec(line) ?? [];
      return VALUE.test(value) ? `${indent}same(${expression}, ${value});` : line;
    });
    return `async "${number} ${of}"({ project, photos, url, key, same }: Context) {
const blob = new Blob(["…"]);
const console = { log: (..._: unknown[]) => {} };
void [project, photos, url, key, same, blob, console];
{
${lines.join("\n")}
}
},`;
  });
  return `import { ${exports.join(", ")} } from "${CLIENT}mod.ts";

interface Context {
  project: Project;
  photos: Drive;
  url: string;
  key: string;
  same: (actual: unknown, expected: unknown) => void;
}

export const examples = {
${functions.join("\n")}
};
`;
}

/** What the type check of the module needs. */
export const EXAMPLE_CONFIG = JSON.stringify({
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
  },
});

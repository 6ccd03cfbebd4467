/**
 * The project's own `deno lint` rules: how long a function and a file may be, which folder may import
 * which, and where the platform's interfaces may be used. `deno.json` names this file under `lint.plugins`.
 */

const ROOT = new URL("../", import.meta.url).href;

const MAX_FUNCTION_LINES = 80;
const MAX_FILE_LINES = 400;

/** What each folder of `src/` may import. `top` stands for `src/cli/` and the files right in `src/`. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  // It runs in browsers, and knows the server by its API alone.
  dashboard: ["dashboard"],
  types: ["types"],
  drive: ["drive", "types"],
  // The description of the API is data, which takes nothing but the limits from the program.
  openapi: ["openapi", "drive", "types"],
  // It knows the server by its API alone.
  client: ["client", "drive", "types"],
  store: ["store", "drive", "types"],
  // It knows connections and messages, and nothing of what is stored.
  http1: ["http1", "drive", "types"],
  http: ["http", "store", "drive", "types"],
  gate: ["gate", "http1", "http", "store", "drive", "types"],
  routes: ["routes", "openapi", "gate", "http1", "http", "store", "drive", "types"],
  top: ["top", "client", "routes", "openapi", "gate", "http1", "http", "store", "drive", "types"],
};

/** Names of the key-value store's interface: `Deno.openKv`, `Deno.Kv`, `Deno.KvEntry`, … */
const STORE_NAME = /^(openKv|Kv.*|AtomicOperation|AtomicCheck)$/;
const HTTP_NAMES = new Set(["Request", "Response", "Headers"]);

type ModuleReference =
  | Deno.lint.ImportDeclaration
  | Deno.lint.ExportAllDeclaration
  | Deno.lint.ExportNamedDeclaration
  | Deno.lint.ImportExpression
  | Deno.lint.TSImportType;

type FunctionNode =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression;

const functionLength: Deno.lint.Rule = {
  create(context) {
    const check = (node: FunctionNode): void => {
      const lines = countLines(context.sourceCode.getText(node));
      if (lines <= MAX_FUNCTION_LINES) return;
      const start = node.range[0];
      context.report({
        range: [start, start + (context.sourceCode.getText(node).split("\n")[0] ?? "").length],
        message: `A function has ${lines} lines, more than ${MAX_FUNCTION_LINES}`,
        hint: "Split it into functions that can be named",
      });
    };
    return {
      FunctionDeclaration: check,
      FunctionExpression: check,
      ArrowFunctionExpression: check,
    };
  },
};

const fileLength: Deno.lint.Rule = {
  create(context) {
    return {
      Program() {
        const text = context.sourceCode.text;
        const lines = countLines(text);
        if (lines <= MAX_FILE_LINES) return;
        const kept = text.split("\n").slice(0, MAX_FILE_LINES).join("\n").length + 1;
        context.report({
          range: [kept, text.length],
          message: `A file has ${lines} lines, more than ${MAX_FILE_LINES}`,
          hint: "Split it by subject, one export a file",
        });
      },
    };
  },
};

const importDirection: Deno.lint.Rule = {
  create(context) {
    const file = projectPath(context.filename);
    const check = (node: ModuleReference): void => {
      const specifier = specifierOf(node);
      if (file === undefined || specifier === undefined) return;
      const message = judgeImport(file, specifier);
      if (message !== undefined) context.report({ node, message });
    };
    return {
      ImportDeclaration: check,
      ExportAllDeclaration: check,
      ExportNamedDeclaration: check,
      ImportExpression: check,
      TSImportType: check,
    };
  },
};

const platformAccess: Deno.lint.Rule = {
  create(context) {
    const file = projectPath(context.filename) ?? "";
    const refuseStore = (node: Deno.lint.Node, name: string): void => {
      const message = `Only src/store/ may use Deno.${name}`;
      if (STORE_NAME.test(name) && !mayUseStore(file)) context.report({ node, message });
    };
    return {
      MemberExpression(node) {
        if (node.property.type === "Identifier") refuseStore(node, node.property.name);
      },
      TSQualifiedName(node) {
        refuseStore(node, node.right.name);
      },
      Identifier(node) {
        if (!HTTP_NAMES.has(node.name) || isPlainName(node) || mayUseHttp(file)) return;
        const message =
          `Only src/http/, src/http1/, src/gate/, src/routes/, src/cli/, src/client/, src/dashboard/ and src/app.ts may use ${node.name}`;
        context.report({ node, message });
      },
    };
  },
};

const plugin: Deno.lint.Plugin = {
  name: "kvdrive",
  rules: {
    "function-length": functionLength,
    "file-length": fileLength,
    "import-direction": importDirection,
    "platform-access": platformAccess,
  },
};

export default plugin;

/** A sentence on what is wrong with the import, or nothing. */
function judgeImport(file: string, specifier: string): string | undefined {
  if (specifier === "node:sqlite" && !mayUseStore(file)) {
    return "Only src/store/ may import node:sqlite";
  }
  // A package's name is no path.
  if (!/^(\.{0,2}\/|file:)/.test(specifier)) return undefined;
  const from = placeOf(file);
  const target = projectPath(new URL(specifier, ROOT + file).href);
  const to = target === undefined ? undefined : placeOf(target);
  if (from === undefined || to === undefined) return undefined;
  if (from.startsWith("tests/")) {
    return to.startsWith("src/") || to === "main.ts"
      ? "The tests drive the running server and import nothing of it"
      : undefined;
  }
  if (!from.startsWith("src/")) return undefined;
  return judgeLayers(from, to);
}

function judgeLayers(from: string, to: string): string | undefined {
  const allowed = LAYERS[from.slice("src/".length)];
  if (allowed === undefined) return `${from}/ has no place in the layers of scripts/lint_plugin.ts`;
  if (!to.startsWith("src/")) return `${describe(from)} may not import from ${describe(to)}`;
  return allowed.includes(to.slice("src/".length))
    ? undefined
    : `${describe(from)} may not import from ${describe(to)}`;
}

function describe(place: string): string {
  if (place === "src/top") return "src/*.ts or src/cli/";
  return place === "main.ts" ? place : `${place.replace(/\/$/, "")}/`;
}

/** Where a file lies, as far as the rules are concerned: `src/drive`, `src/top`, `tests/`, `main.ts`, … */
function placeOf(path: string): string | undefined {
  const [first, second, ...deeper] = path.split("/");
  if (first === "src") return deeper.length === 0 || second === "cli" ? "src/top" : `src/${second}`;
  if (first === "tests" || first === "scripts") return `${first}/`;
  return path === "main.ts" ? path : undefined;
}

/** The path below the project's folder, or nothing for a file or a package outside of it. */
function projectPath(file: string): string | undefined {
  const href = file.startsWith("/") ? new URL(file, "file:///").href : file;
  return href.startsWith(ROOT) ? decodeURIComponent(href.slice(ROOT.length)) : undefined;
}

function specifierOf(node: ModuleReference): string | undefined {
  const source = node.type === "TSImportType" ? node.argument : node.source;
  const literal = source?.type === "TSLiteralType" ? source.literal : source;
  if (literal?.type !== "Literal" || typeof literal.value !== "string") return undefined;
  return literal.value;
}

/** The benchmarks in `scripts/` measure the layers below the server, so they may go round it. */
/** Scripts measure the store; the tests of faults damage it, and look at what the server left. */
function mayUseStore(file: string): boolean {
  return ["src/store/", "scripts/", "tests/faults/support/"].some((folder) =>
    file.startsWith(folder)
  );
}

function mayUseHttp(file: string): boolean {
  if (!file.startsWith("src/") || file === "src/app.ts") return true;
  const folders = ["http", "http1", "gate", "routes", "cli", "client", "dashboard"];
  return folders.some((folder) => file.startsWith(`src/${folder}/`));
}

/** Whether an identifier is only the name of a member or of a key, and not the global of that name. */
function isPlainName(node: Deno.lint.Identifier): boolean {
  const parent: Deno.lint.Node = node.parent;
  switch (parent.type) {
    case "MemberExpression":
      return parent.property === node && !parent.computed;
    case "Property":
    case "PropertyDefinition":
    case "MethodDefinition":
    case "TSPropertySignature":
    case "TSMethodSignature":
    case "TSEnumMember":
      return isKey(parent, node);
    case "TSQualifiedName":
      return parent.right === node;
    case "ExportSpecifier":
      return parent.exported === node;
    default:
      return false;
  }
}

function isKey(parent: Deno.lint.Node, node: Deno.lint.Identifier): boolean {
  if (parent.type === "TSEnumMember") return parent.id === node;
  return "key" in parent && parent.key === node;
}

function countLines(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

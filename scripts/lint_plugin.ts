/**
 * The project's own `deno lint` rules: how long a function and a file may be, which folder may import
 * which, and where KV and HTTP interfaces may be used. `deno.json` lists this file under `lint.plugins`.
 */

const ROOT = new URL("../", import.meta.url).href;

const MAX_FUNCTION_LINES = 80;
const MAX_FILE_LINES = 400;

/** The layers of the store from that of the bytes of files down. */
const BYTES_AND_BELOW = [
  "store/bytes",
  "store/quotas",
  "store/engine",
  "store/reads",
  "store/disk",
  "rules",
];

/** What the rooms that assemble a server connect. */
const SERVER_PARTS = ["src", "api", "webhooks", "gate", "http", "http1", "acme", "store", "rules"];

/**
 * The folders of `src/`, and what each may import besides itself. A folder without an entry belongs to the
 * entry above it; an allowed folder includes its subfolders. `src` stands for the files directly in `src/`.
 */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  // It runs in browsers and uses the server only through its API.
  dashboard: [],
  types: [],
  rules: [],
  http1: ["rules"],

  // It uses the server only through its API.
  client: ["client/api", "rules"],
  // It runs in browsers.
  "client/api": ["rules"],
  "client/archive": ["client", "rules"],

  "store/disk": ["rules"],
  "store/reads": ["store/disk", "rules"],
  "store/engine": ["store/reads", "store/disk", "rules"],
  "store/quotas": ["store/engine", "store/reads", "store/disk", "rules"],
  "store/bytes": ["store/quotas", "store/engine", "store/reads", "store/disk", "rules"],
  "store/files": [
    ...BYTES_AND_BELOW,
  ],
  "store/changes": ["store/engine", "store/reads", "store/disk", "rules"],
  "store/webhooks": ["store/changes", "store/accounts", ...BYTES_AND_BELOW],
  "store/listing": [
    "store/files",
    "store/bytes",
    "store/quotas",
    "store/engine",
    "store/reads",
    "rules",
  ],
  "store/uploads": [
    "store/files",
    ...BYTES_AND_BELOW,
  ],
  "store/links": [
    "store/accounts",
    "store/bytes",
    "store/engine",
    "store/reads",
    "store/disk",
    "rules",
  ],
  "store/sessions": [
    "store/accounts",
    "store/bytes",
    "store/engine",
    "store/reads",
    "store/disk",
    "rules",
  ],
  "store/accounts": [
    "store/sessions",
    "store/links",
    "store/files",
    ...BYTES_AND_BELOW,
  ],
  "store/maintenance": [
    "store/changes",
    "store/links",
    "store/accounts",
    "store/uploads",
    "store/files",
    ...BYTES_AND_BELOW,
  ],
  "store/verify": [
    "store/quotas",
    "store/sessions",
    "store/links",
    "store/accounts",
    "store/files",
    "store/bytes",
    "store/engine",
    "store/reads",
    "store/disk",
    "rules",
  ],
  "store/backup": ["store/verify", "store/engine", "store/reads", "store/disk", "rules"],
  // Snapshots of a store in a repository, which knows no store.
  "store/snapshots": ["repository", "store", "rules"],
  repository: ["repository", "rules"],
  "repository/targets": ["repository", "s3/auth", "xml", "store/disk", "rules"],
  "store/remote": ["store/engine", "store/reads", "store/disk", "rules"],
  store: ["repository", "store", "rules"],
  "store/testing": ["store", "rules"],

  acme: ["http1", "store/disk", "rules"],

  "http/network": ["rules"],
  http: ["http/network", "store", "rules"],
  "http/metrics": ["http", "acme", "store", "rules"],
  gate: ["http", "http1", "store", "rules"],
  webhooks: ["http", "http1", "store", "rules"],
  xml: [],
  "s3/auth": ["s3", "rules"],
  "s3/payload": ["s3", "http", "rules"],
  s3: ["s3", "xml", "http", "store", "rules"],
  openapi: ["rules"],
  api: ["openapi", "webhooks", "http", "store", "rules"],
  "api/server": ["api", "openapi", "gate", "http", "http1", "store", "rules"],

  dav: ["xml", "api", "http", "http1", "store", "rules"],

  src: ["api", "openapi", "gate", "http", "http1", "store", "rules"],
  "cli/terminal": ["repository", "client", "http", "acme", "store", "rules"],
  "cli/options": ["repository", "cli/terminal", "http", "acme", "store", "rules"],
  // The server without its sockets: what `cli/serve` starts, and what other programs open as a library.
  server: [...SERVER_PARTS, "s3", "dav", "client", "cli/options", "cli/terminal"],
  "cli/serve": [...SERVER_PARTS, "server", "repository", "cli/options", "cli/terminal"],
  "cli/commands": [
    "repository",
    "cli/serve",
    "server",
    "acme",
    "cli/options",
    "cli/terminal",
    "src",
    "client",
    "api",
    "http",
    "store",
    "rules",
  ],
  cli: [
    "repository",
    "cli",
    "acme",
    "src",
    "client",
    "api",
    "openapi",
    "gate",
    "http",
    "http1",
    "store",
    "rules",
  ],
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
      const message = importProblem(file, specifier);
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
          `Only src/http/, src/http1/, src/acme/, src/gate/, src/api/, src/openapi/, src/s3/, src/dav/, src/server/, src/cli/, src/client/, src/dashboard/ and src/app.ts may use ${node.name}`;
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

/** Returns what is wrong with an import, or undefined. */
function importProblem(file: string, specifier: string): string | undefined {
  if (specifier === "node:sqlite" && !mayUseStore(file)) {
    return "Only src/store/ may import node:sqlite";
  }
  // A package's name is no path.
  if (!/^(\.{0,2}\/|file:)/.test(specifier)) return undefined;
  const target = projectPath(new URL(specifier, ROOT + file).href);
  if (target === undefined) return undefined;
  if (file.startsWith("tests/")) {
    return target.startsWith("src/") || target === "main.ts"
      ? "Tests drive the running server and import nothing from it"
      : undefined;
  }
  if (!file.startsWith("src/")) return undefined;
  return layerProblem(file, target);
}

function layerProblem(file: string, target: string): string | undefined {
  const from = layerOf(file);
  if (from === undefined) {
    return `${folderOf(file)}/ has no entry in LAYERS of scripts/lint_plugin.ts`;
  }
  if (target === "deno.json") return undefined;
  // A test uses all of its subject: a test of `store/files/` opens a whole store.
  if (/_test\.tsx?$/.test(file) && subjectOf(file) === subjectOf(target)) return undefined;
  const to = layerOf(target);
  const allowed = to === from ||
    (to !== undefined && LAYERS[from]?.some((entry) => covers(entry, to)));
  return allowed ? undefined : `${folderOf(file)}/ may not import from ${folderOf(target)}/`;
}

/** Reports whether an allowed folder is a layer, or holds it. */
function covers(entry: string, layer: string): boolean {
  return layer === entry || layer.startsWith(`${entry}/`);
}

/** The longest entry of `LAYERS` that a file of `src/` belongs to, or undefined if there is none. */
function layerOf(path: string): string | undefined {
  const [first, ...folders] = folderOf(path).split("/");
  if (first !== "src") return undefined;
  if (folders.length === 0) return "src";
  for (let length = folders.length; length > 0; length--) {
    const layer = folders.slice(0, length).join("/");
    if (Object.hasOwn(LAYERS, layer)) return layer;
  }
  return undefined;
}

/** The folder of `src/` that a file is below, or "src" for a file directly in it. */
function subjectOf(path: string): string {
  return folderOf(path).split("/").slice(0, 2).join("/");
}

/** The folder of a file, without a slash at its end; "." for the project's own. */
function folderOf(path: string): string {
  return path.split("/").slice(0, -1).join("/") || ".";
}

/** The path below the project's folder, or undefined for a package or a file outside it. */
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

/** Benchmarks measure the layers below the server; fault tests damage the store and inspect it. */
function mayUseStore(file: string): boolean {
  return ["src/store/", "scripts/", "tests/faults/support/"].some((folder) =>
    file.startsWith(folder)
  );
}

function mayUseHttp(file: string): boolean {
  if (!file.startsWith("src/") || file === "src/app.ts") return true;
  return /^src\/(http1?|acme|gate|api|openapi|s3|dav|server|cli|client|dashboard)\//.test(file);
}

/** Reports whether an identifier only names a member or a key, not the global of that name. */
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

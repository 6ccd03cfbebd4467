// JSON Schema 2020-12, which OpenAPI 3.1 is made of, is checked by Ajv: the validator that most others are built on, kept
// well for ten years. `ajv-formats` adds what "date-time" and the like are.
import { Ajv2020, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

type Node = Readonly<Record<string, unknown>>;

/** Something of the document, and where it stands. */
export interface Place {
  pointer: string;
  node: Node;
}

const ID = "openapi";

/** The OpenAPI document of a server, indexed for lookups. */
export class Description {
  private readonly ajv = new Ajv2020({
    strictTypes: false,
    strictRequired: false,
    allErrors: true,
  });
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly paths: { pattern: string[]; path: string; item: Place }[];

  constructor(private readonly document: Node) {
    addFormats.default(this.ajv);
    // It is a document with schemas in it, and none itself. What stands in those and is not known is a mistake.
    this.ajv.addVocabulary(Object.keys(document));
    this.ajv.addSchema(document, ID, undefined, false);
    const paths = this.at("#/paths");
    this.paths = Object.keys(paths.node).map((path) => ({
      path,
      pattern: path.slice(1).split("/"),
      item: this.in(paths, path),
    }));
  }

  /** Every operation and status that is described, as `GET /v1/{project_id} 200`. */
  get pairs(): string[] {
    return this.paths.flatMap(({ path, item }) =>
      Object.keys(item.node).filter((key) => key !== "parameters").flatMap((method) =>
        Object.keys(this.in(this.in(item, method), "responses").node).map((status) =>
          `${method.toUpperCase()} ${path} ${status}`
        )
      )
    );
  }

  /** What a path, percent-encoded, is an example of; `undefined` where no path of the document fits. */
  pathOf(path: string): { path: string; item: Place } | undefined {
    if (!path.startsWith("/")) return undefined;
    const segments = path.slice(1).split("/");
    return this.paths.find(({ pattern }) =>
      pattern.length === segments.length &&
      pattern.every((part, i) => part.startsWith("{") ? segments[i] !== "" : part === segments[i])
    );
  }

  /** What stands in `components`. */
  component(kind: string, name: string): Place {
    return this.at(`#/components/${kind}/${name}`);
  }

  /** What stands below a place, references followed. */
  in({ pointer, node }: Place, key: string): Place {
    const inner = node[key] as Node;
    if (typeof inner["$ref"] === "string") return this.at(inner["$ref"]);
    return { pointer: `${pointer}/${escapePointer(key)}`, node: inner };
  }

  /** What is wrong with a value by a schema; nothing if it fits. */
  misfits({ pointer }: Place, value: unknown): string[] {
    const validate = this.validators.get(pointer) ??
      this.ajv.compile({ $ref: `${ID}${encodeURI(pointer)}` });
    this.validators.set(pointer, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message = "", params }) =>
      `${instancePath} ${message} ${JSON.stringify(params)}`.trim()
    );
  }

  private at(pointer: string): Place {
    let node: unknown = this.document;
    for (const key of pointer.split("/").slice(1)) node = (node as Node)[unescapePointer(key)];
    if (typeof node !== "object" || node === null) throw new Error(`Nothing is at ${pointer}`);
    return { pointer, node: node as Node };
  }
}

/** RFC 6901: how a key stands in a pointer. */
function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unescapePointer(key: string): string {
  return key.replaceAll("~1", "/").replaceAll("~0", "~");
}

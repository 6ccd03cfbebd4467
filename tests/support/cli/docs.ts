import { fromFileUrl } from "@std/path/from-file-url";

/** The root of the repository. */
const ROOT = new URL("../../../", import.meta.url);

/** A block of code in a page. */
export interface Block {
  /** The words behind the fence, such as `sh run`. */
  info: string;
  code: string;
}

/** A page of the documentation. */
export class Page {
  private constructor(
    /** The path below the repository's root. */
    readonly path: string,
    private readonly text: string,
  ) {}

  /** Every page: those at the root and those in `docs/`. */
  static async all(): Promise<Page[]> {
    const paths = ["README.md", "CONTRIBUTING.md", "SECURITY.md"];
    for await (const { name } of Deno.readDir(new URL("docs/", ROOT))) {
      if (name.endsWith(".md")) paths.push(`docs/${name}`);
    }
    return await Promise.all(paths.sort().map((path) => Page.read(path)));
  }

  /** @param path Below the repository's root. */
  static async read(path: string): Promise<Page> {
    return new Page(path, await Deno.readTextFile(new URL(path, ROOT)));
  }

  /** The blocks of code whose info string is `info`. Blocks in lists lose their indentation. */
  blocks(info: string): string[] {
    return this.allBlocks().filter((block) => block.info === info).map(({ code }) => code);
  }

  /** The targets of all links and images outside of code. */
  links(): string[] {
    const prose = this.#prose().replaceAll(/`[^`\n]*`/g, "");
    return [...prose.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = ""]) => target);
  }

  /** The anchors of the headings, as GitHub makes them. */
  anchors(): Set<string> {
    const anchors = new Set<string>();
    for (const [, heading = ""] of this.#prose().matchAll(/^#{1,6} +(.+)$/gm)) {
      const name = anchorOf(heading);
      let anchor = name;
      for (let count = 1; anchors.has(anchor); count++) anchor = `${name}-${count}`;
      anchors.add(anchor);
    }
    return anchors;
  }

  /** The versions of Deno that commands in the page name. */
  denoVersions(): string[] {
    return [...this.text.matchAll(/\bdeno@([\w.-]*\w)/g)].map(([, version = ""]) => version);
  }

  /** The source files and folders that the page names in code, such as `src/app.ts`. */
  sources(): string[] {
    const names = this.text.matchAll(/`((?:src|tests|scripts|docs)\/[\w./-]*)`/g);
    return [...names].map(([, name = ""]) => name);
  }

  /** What the page says to be in a source file, as in: `Store.close` in `src/store/store.ts`. */
  definitions(): { name: string; source: string }[] {
    const all = this.text.matchAll(/`(?:\w+\.)*(\w+)`\s+in\s+`(src\/[\w./-]+\.tsx?)`/g);
    return [...all].map(([, name = "", source = ""]) => ({ name, source }));
  }

  /** The path of what a relative link leads to, below the repository's root. */
  resolve(target: string): string {
    const url = new URL(target, new URL(this.path, ROOT));
    return decodeURIComponent(url.pathname.slice(ROOT.pathname.length));
  }

  #prose(): string {
    return this.text.replaceAll(FENCED, "");
  }

  /** All blocks of code, in their order. */
  allBlocks(): Block[] {
    return [...this.text.matchAll(FENCED)].map(([, indent = "", info = "", code = ""]) => ({
      info: info.trim(),
      code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    }));
  }
}

const FENCED = /^( *)```([^\n]*)\n([^]*?)^ *```$/gm;

/** The repository's root as a path. */
export const ROOT_PATH = fromFileUrl(ROOT);

/** Whether a file of the repository exists. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(new URL(path, ROOT));
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** How GitHub makes an anchor from a heading: small letters, hyphens for spaces, no punctuation. */
function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").trim().replaceAll(/\s/g, "-");
}

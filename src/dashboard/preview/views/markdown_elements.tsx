import type { MarkedToken, Token, Tokens } from "marked";
import { type ComponentChild, h } from "preact";
import { decodeEntities } from "../content/markdown.ts";

/** What the text of a Markdown file needs from the page. */
export interface Surroundings {
  /** Returns the address of a picture beside the file; `undefined` for any other. */
  imageOf: (href: string) => string | undefined;
}

/** Elements within each other: deeper ones are shown as text. */
const MAX_DEPTH = 40;
/** Addresses that may be opened. */
const OPENED = /^(https?:\/\/|mailto:)/i;

/** Returns tokens as elements. HTML is shown as the text that it is. */
export function elementsOf(
  tokens: readonly Token[],
  surroundings: Surroundings,
  depth = 0,
): ComponentChild[] {
  if (depth > MAX_DEPTH) return tokens.map(({ raw }) => raw);
  return tokens.map((token) => elementOf(token as MarkedToken, surroundings, depth + 1));
}

function elementOf(token: MarkedToken, surroundings: Surroundings, depth: number): ComponentChild {
  const inner = (tokens: readonly Token[]) => elementsOf(tokens, surroundings, depth);
  switch (token.type) {
    case "heading":
      // The name of the file is the heading above.
      return h(
        `h${Math.min(token.depth + 2, 6)}`,
        { class: `h${token.depth}` },
        inner(token.tokens),
      );
    case "paragraph":
      return <p>{inner(token.tokens)}</p>;
    case "text":
      return token.tokens === undefined ? decodeEntities(token.text) : inner(token.tokens);
    case "escape":
      return token.text;
    case "strong":
      return <strong>{inner(token.tokens)}</strong>;
    case "em":
      return <em>{inner(token.tokens)}</em>;
    case "del":
      return <del>{inner(token.tokens)}</del>;
    case "br":
      return <br />;
    case "hr":
      return <hr />;
    case "codespan":
      return <code>{token.text}</code>;
    case "code":
      return <pre tabIndex={0}><code>{token.text}</code></pre>;
    case "blockquote":
      return <blockquote>{inner(token.tokens)}</blockquote>;
    case "list":
      return listOf(token, inner);
    case "table":
      return tableOf(token, inner);
    case "link":
      return linkOf(token, inner);
    case "image":
      return imageOf(token, surroundings);
    case "checkbox":
      return (
        <input
          type="checkbox"
          checked={token.checked}
          disabled
          aria-label={token.checked ? "Done" : "To do"}
        />
      );
    case "html":
      return token.block ? <pre class="markup">{token.raw}</pre> : token.raw;
    case "space":
    case "def":
      return null;
    default:
      return (token as Token).raw;
  }
}

type Inner = (tokens: readonly Token[]) => ComponentChild[];

function listOf({ ordered, start, items }: Tokens.List, inner: Inner): ComponentChild {
  const children = items.map((item, index) => (
    <li key={index} class={item.task ? "task" : ""}>{inner(item.tokens)}</li>
  ));
  return ordered ? <ol start={start === "" ? 1 : start}>{children}</ol> : <ul>{children}</ul>;
}

function tableOf({ header, rows }: Tokens.Table, inner: Inner): ComponentChild {
  const classOf = ({ align }: Tokens.TableCell) => align ?? "";
  return (
    <div class="values" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              <th key={index} scope="col" class={classOf(cell)}>{inner(cell.tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, index) => (
                <td key={index} class={classOf(cell)}>{inner(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function linkOf({ href, tokens, title }: Tokens.Link, inner: Inner): ComponentChild {
  const address = decodeEntities(href).trim();
  const text = inner(tokens);
  if (!OPENED.test(address)) return <span title={title ?? undefined}>{text}</span>;
  return (
    <a href={address} title={title ?? undefined} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  );
}

/** Pictures of other servers are not loaded: they would tell these who reads the file. */
function imageOf({ href, text }: Tokens.Image, surroundings: Surroundings): ComponentChild {
  const alt = decodeEntities(text);
  const address = surroundings.imageOf(decodeEntities(href));
  if (address !== undefined) return <img src={address} alt={alt} loading="lazy" />;
  return <span class="picture-text" title={href}>{alt || "Picture"}</span>;
}

/**
 * Returns the name of the file that a relative address within another file means; `undefined` for other addresses.
 *
 * @param folder The folder of the file that has the address.
 */
export function relativeName(href: string, folder: string): string | undefined {
  if (/^[a-z][a-z\d+.-]*:|^[/\\#?]/i.test(href)) return undefined;
  try {
    const path = decodeURIComponent(href.split(/[?#]/, 1)[0]!).replace(/^(\.\/)+/, "");
    // The ticket opens only the folder and what is below it.
    return path === "" || path.split("/").includes("..") ? undefined : folder + path;
  } catch {
    return undefined;
  }
}

import { assert, assertEquals } from "@std/assert";
import { isValidElement } from "preact";
import { readMarkdown } from "../content/markdown.ts";
import { elementsOf, relativeName } from "./markdown_elements.tsx";

/** Writes elements as text: `[p class=x: content]`. */
function write(node: unknown): string {
  if (Array.isArray(node)) return node.map(write).join("");
  if (node === null || node === undefined || typeof node === "boolean") return "";
  if (!isValidElement(node)) return String(node);
  const { children, ...rest } = node.props as Record<string, unknown>;
  const attributes = Object.entries(rest).filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => ` ${name}=${value}`);
  return `[${String(node.type)}${attributes.join("")}: ${write(children)}]`;
}

const beside = { imageOf: (href: string) => href === "a.png" ? "/a" : undefined };
const shown = (text: string) => write(elementsOf(readMarkdown(text) ?? [], beside));

Deno.test("Markdown becomes elements", () => {
  assertEquals(shown("# A *b*"), "[h3 class=h1: A [em: b]]");
  assertEquals(shown("a &amp; `&amp;`"), "[p: a & [code: &amp;]]");
  assertEquals(shown("1. a\n2. b"), "[ol start=1: [li: a][li: b]]");
  assert(shown("- [x] done").includes("[input type=checkbox checked=true"));
  assert(shown("|a|\n|-|\n|b|").includes("[th scope=col: a]"));
});

Deno.test("HTML is shown as text", () => {
  assertEquals(
    shown("<script>alert(1)</script>\n"),
    "[pre class=markup: <script>alert(1)</script>\n]",
  );
  assertEquals(shown("a <img src=x onerror=alert(1)> b"), "[p: a <img src=x onerror=alert(1)> b]");
});

Deno.test("Only web and mail addresses can be opened", () => {
  assertEquals(
    shown("[a](https://example.com/x)"),
    "[p: [a href=https://example.com/x target=_blank rel=noopener noreferrer: a]]",
  );
  assert(shown("<me@example.com>").includes("href=mailto:me@example.com"));
  const hostile = [
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](java&Tab;script:alert(1))",
    "[a](<\u0001javascript:alert(1)>)",
    "[a](data:text/html,<script>alert(1)</script>)",
    "[a](//example.com)",
    "[a](blob:https://example.com/1)",
    "<javascript:alert(1)>",
    "[a][b]\n\n[b]: javascript:alert(1)",
  ];
  for (const text of hostile) assert(!shown(text).includes("href="), text);
});

Deno.test("Pictures of other servers are not loaded", () => {
  assertEquals(shown("![A](a.png)"), "[p: [img src=/a alt=A loading=lazy: ]]");
  assert(!shown("![A](https://example.com/a.png)").includes("src="));
  assert(!shown("![A](javascript:alert(1))").includes("src="));
});

Deno.test("A picture beside the file is found by its relative address", () => {
  assertEquals(relativeName("a%20b.png", "trip/"), "trip/a b.png");
  assertEquals(relativeName("./img/a.png?raw", "trip/"), "trip/img/a.png");
  const others = ["../a.png", "/a.png", "//host/a.png", "https://host/a", "data:,", "#a", "%ff"];
  for (const href of others) assertEquals(relativeName(href, "trip/"), undefined, href);
});

Deno.test("Deep nesting is shown as text", () => {
  assert(shown(`${"> ".repeat(100)}deep`).includes("deep"));
});

Deno.test("Texts that are made to stop the page do not", () => {
  const started = performance.now();
  const paragraphs = `${"_a_".repeat(3000)}\n\n`.repeat(30);
  assert(shown(paragraphs).includes("_a_"));
  assertEquals(shown("_a_".repeat(30_000)), `[p: ${"_a_".repeat(30_000)}]`);
  assertEquals(readMarkdown("> ".repeat(100_000)), undefined);
  assertEquals(readMarkdown("a ".repeat(200_000)), undefined);
  // The bounds allow for less than two seconds; a slow machine takes longer.
  assert(performance.now() - started < 30_000);
});

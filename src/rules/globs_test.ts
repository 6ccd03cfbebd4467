import { assertEquals } from "@std/assert";
import { escapeGlob, Glob, NameFilter, unescapeGlob } from "./globs.ts";

Deno.test("A star stops at a slash, and two stars do not", () => {
  const cases: [string, string[], string[]][] = [
    ["*.gif", ["a.gif", ".gif", "é\n😀.gif"], ["a/b.gif", "a.gifs", "a.GIF"]],
    ["a/*.gif", ["a/b.gif", "a/.gif"], ["a/b/c.gif", "b.gif", "xa/b.gif"]],
    ["**.gif", ["a.gif", "a/b/c.gif"], ["a.png"]],
    ["**/b", ["b", "a/b", "a/c/b", "/b"], ["ab", "a/xb"]],
    ["a/**/b", ["a/b", "a/x/b", "a/x/y/b", "a//b"], ["ab", "xa/b", "a/xb"]],
    ["a/**", ["a/b", "a/b/c", "a/"], ["a", "ab/c"]],
    ["a**/b", ["a/b", "axx/y/b"], ["b"]],
    ["?", ["a", "😀"], ["", "ab", "/"]],
    ["a.b(c)[d]{e,f}|g^$+", ["a.b(c)[d]{e,f}|g^$+"], ["axb(c)[d]{e,f}|g^$+", "a.bcde"]],
    ["***", ["a/b"], []],
  ];
  for (const [pattern, matching, others] of cases) {
    const glob = new Glob(pattern);
    for (const name of matching) assertEquals(glob.matches(name), true, `${pattern} ${name}`);
    for (const name of others) assertEquals(glob.matches(name), false, `${pattern} ${name}`);
  }
});

Deno.test("A backslash takes the special meaning of a character away", () => {
  assertEquals(new Glob("\\*").literal, "*");
  assertEquals(new Glob("a\\?\\\\b\\c").literal, "a?\\b\\c");
  assertEquals(new Glob("\\**").matches("*x"), true);
  assertEquals(new Glob("\\**").matches("x"), false);
  for (const name of ["*", "a?b", "\\", "\\*", "a\\b", "**/x"]) {
    assertEquals(new Glob(escapeGlob(name)).literal, name);
    assertEquals(unescapeGlob(escapeGlob(name)), name);
  }
  assertEquals(unescapeGlob("what?.txt"), "what?.txt");
});

Deno.test("A pattern says where its matches are", () => {
  const facts = (text: string) => {
    const { literal, folder, prefix, isFlat } = new Glob(text);
    return [literal, folder, prefix, isFlat];
  };
  assertEquals(facts("a/b"), ["a/b", "a/", "a/b", false]);
  assertEquals(facts("*.gif"), [undefined, "", "", true]);
  assertEquals(facts("a/b*.gif"), [undefined, "a/", "a/b", true]);
  assertEquals(facts("a/*/c"), [undefined, "a/", "a/", false]);
  assertEquals(facts("a/**"), [undefined, "a/", "a/", false]);
  assertEquals(facts("\\*/x*"), [undefined, "*/", "*/x", true]);
});

Deno.test("A filter's pattern without a slash matches the last segment at any depth", () => {
  const filter = new NameFilter({ exclude: ["*.tmp", "/top", "cache/", "a/b/", "x/*.log"] });
  const passing = ["a.txt", "top/a", "b/top", "a.tmp/b", "cache", "c/a/b/d", "x/y/a.log", "tmp"];
  const others = ["a.tmp", "b/c.tmp", "top", "cache/a", "b/cache/c/d", "a/b/c", "x/a.log"];
  assertEquals(passing.filter((name) => !filter.passes(name)), []);
  assertEquals(others.filter((name) => filter.passes(name)), []);
});

Deno.test("Without an --include all files pass; with one, those that match and are not excluded", () => {
  const filter = new NameFilter({ include: ["*.jpg", "docs/**"], exclude: ["draft*"] });
  assertEquals(filter.passes("a/b.jpg"), true);
  assertEquals(filter.passes("docs/a/b"), true);
  assertEquals(filter.passes("docs/draft.txt"), false);
  assertEquals(filter.passes("a.png"), false);
  assertEquals(new NameFilter({}).passes("a"), true);
});

Deno.test("A folder is left out only if all that is in it is", () => {
  const filter = new NameFilter({ exclude: ["cache/", "a/**", "b/*", "*.tmp", "c"] });
  const pruned = ["cache/", "x/cache/", "cache/y/", "a/", "a/b/"];
  const kept = ["b/", "b/x/", "d.tmp/", "c/", "x/a/"];
  assertEquals(pruned.filter((name) => !filter.prunes(name)), []);
  assertEquals(kept.filter((name) => filter.prunes(name)), []);
  assertEquals(new NameFilter({ exclude: ["**"] }).prunes("x/"), true);
  const including = new NameFilter({ include: ["a/**", "*.jpg"] });
  assertEquals(["a/", "a/b/", "x/"].map((name) => including.passesFolder(name)), [
    true,
    true,
    false,
  ]);
});

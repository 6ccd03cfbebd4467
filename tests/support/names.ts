/** Names that a careless server changes, splits, folds, or takes for a path. */
export const AWKWARD_NAMES: readonly { what: string; name: string }[] = [
  { what: "a space", name: "a file.txt" },
  { what: "spaces around", name: "  padded  " },
  { what: "a plus sign", name: "1+1=2" },
  { what: "an ampersand and an equals sign", name: "a&b=c&name=d" },
  { what: "a semicolon", name: "a;b" },
  { what: "a number sign", name: "#1" },
  { what: "a question mark", name: "what?name=this" },
  { what: "a percent sign", name: "100%" },
  { what: "percent-encoded dots", name: "%2e%2e/" + "up" },
  { what: "percent-encoded text", name: "%41%zz" },
  { what: "a newline", name: "line one\nline two" },
  { what: "a carriage return and a newline", name: "x\r\nSet-Cookie: a=b" },
  { what: "a tab", name: "a\tb" },
  { what: "a control character", name: "a\u0001\u007fb" },
  { what: "a backslash", name: "c:\\temp\\x" },
  { what: "quotation marks", name: `"quoted" 'too'` },
  { what: "mark-up", name: "<script>alert(1)</script>" },
  { what: "a leading slash", name: "/etc/passwd" },
  { what: "two slashes", name: "a//b" },
  { what: "only slashes before the end", name: "//x" },
  { what: "one dot", name: "." },
  { what: "two dots", name: ".." },
  { what: "a way up", name: "../../../../etc/passwd" },
  { what: "dots inside", name: "a/../b/./c" },
  { what: "an emoji", name: "🦖.png" },
  { what: "an emoji of several code points", name: "👩‍👩‍👧‍👦" },
  { what: "the composed normal form", name: "caf\u00e9" },
  { what: "the decomposed normal form", name: "cafe\u0301" },
  { what: "a byte order mark at the start", name: "\ufeffa" },
  { what: "a byte order mark alone", name: "\ufeff" },
  { what: "the same without the byte order mark", name: "a" },
  { what: "another case", name: "A" },
  { what: "the replacement character", name: "a\ufffdb" },
  { what: "text from right to left", name: "\u202eשלום" },
  { what: "a zero-width space alone", name: "\u200b" },
  { what: "a property of every object", name: "__proto__" },
  { what: "another property of every object", name: "constructor" },
  { what: "the word undefined", name: "undefined" },
  { what: "a number", name: "0" },
];

/** The order of a list: that of the names' UTF-8 bytes, which is that of their code points. */
export function byUtf8Bytes(a: string, b: string): number {
  const x = new TextEncoder().encode(a);
  const y = new TextEncoder().encode(b);
  const shorter = Math.min(x.length, y.length);
  for (let i = 0; i < shorter; i++) {
    const difference = (x[i] ?? 0) - (y[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return x.length - y.length;
}

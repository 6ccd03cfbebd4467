/** Characters that change the direction of what follows, and control characters. */
// deno-lint-ignore no-control-regex -- these are what is looked for
const INVISIBLE = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns a name in which nothing is hidden: `photo\u202egnp.exe` would look like `photoexe.png`. */
export function shownName(name: string): string {
  return name.replaceAll(INVISIBLE, "\ufffd");
}

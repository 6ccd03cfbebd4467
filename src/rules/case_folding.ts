/**
 * Comparing texts without regard to case. JavaScript has no case folding, but it has full case mappings, from which the
 * default case folding of Unicode follows (Unicode Standard 3.13, D144: `CaseFolding.txt`, statuses C and F).
 *
 * @module
 */

// deno-lint-ignore no-control-regex -- ASCII is exactly this range
const ASCII = /^[\x00-\x7f]*$/;

/**
 * Dotless i folds to itself: its capital is the `I` of all other languages (the folding for Turkish, status T, is not
 * used).
 */
const EXCEPT_DOTLESS_I = /[^ı]+/g;

/** Cherokee folds to capitals, because its small letters were encoded later. */
const EXCEPT_CHEROKEE = /\P{Script=Cherokee}+/gu;

/**
 * Returns the full case folding of a text: the small letters of its capitals, so that "ß" becomes "ss". Capitals are made
 * of small letters, as "ẞ" is a capital already. Characters fold one by one; only JavaScript's final sigma depends on its
 * neighbours, so it is undone.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.toLowerCase()
    .replace(EXCEPT_DOTLESS_I, (letters) => letters.toUpperCase())
    .replace(EXCEPT_CHEROKEE, (letters) => letters.toLowerCase())
    .replaceAll("ς", "σ");
}

/**
 * Returns the form in which texts are searched: folded, of the composed form (NFC). A few folded letters compose again,
 * as the three characters of a capital "Ϊ́" do, while the letter "ΐ" folds to three: these are folded once more.
 */
export function searchForm(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const folded = foldCase(text.normalize("NFC"));
  const composed = folded.normalize("NFC");
  return composed === folded ? folded : foldCase(composed);
}

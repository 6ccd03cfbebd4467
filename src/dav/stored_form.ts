/** Names whose segments all have one form only. */
// deno-lint-ignore no-control-regex -- exactly the characters of one byte
const ASCII = /^[\x00-\x7f]*$/;

/**
 * Returns a name in the Unicode form in which it is stored. macOS sends names in decomposed form, also those that a list had composed.
 * If there is nothing in the form that was sent, but in another, that is meant; a new name keeps the form that was sent,
 * in the folder that exists.
 *
 * @param exists Returns whether there is a file with a name, or a folder with one that ends with a slash.
 */
export async function storedForm(
  name: string,
  exists: (name: string) => Promise<boolean>,
): Promise<string> {
  if (ASCII.test(name) || await exists(name)) return name;
  let found = "";
  const segments = name.split("/");
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    const forms = new Set([segment, segment.normalize("NFC"), segment.normalize("NFD")]);
    const stored = forms.size === 1 ? segment : await firstOf(forms, async (form) => {
      const place = `${found}${form}`;
      return isLast && await exists(place) || await exists(`${place}/`);
    });
    // Nothing is below a folder that does not exist.
    if (stored === undefined) return found + segments.slice(index).join("/");
    found += isLast ? stored : `${stored}/`;
  }
  return found;
}

async function firstOf(
  forms: Iterable<string>,
  holds: (form: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const form of forms) if (await holds(form)) return form;
  return undefined;
}

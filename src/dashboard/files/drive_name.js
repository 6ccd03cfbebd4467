/**
 * The problem of a drive's name; `undefined` if the server accepts it.
 *
 * @param {string} name
 * @returns {string | undefined}
 */
export function driveNameProblem(name) {
  if (name.trim() === "") return "Enter a name for the drive";
  // deno-lint-ignore no-control-regex -- names must not contain control characters
  if (/[/\x00-\x1f\x7f-\x9f]/.test(name)) {
    return "The name of a drive has no slash and no control character";
  }
  if (name === "." || name === "..") return "A drive cannot be called “.” or “..”";
  const length = new TextEncoder().encode(name).byteLength;
  return length > 128 ? `The name has ${length} bytes: at most 128 are allowed` : undefined;
}

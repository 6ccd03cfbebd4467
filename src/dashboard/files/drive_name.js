/**
 * What is wrong with a drive's name; nothing where the server takes it.
 *
 * @param {string} name
 * @returns {string | undefined}
 */
export function driveNameProblem(name) {
  if (name.trim() === "") return "Give the drive a name";
  // deno-lint-ignore no-control-regex -- these are what a name must not have
  if (/[/\x00-\x1f\x7f-\x9f]/.test(name)) {
    return "The name of a drive has no slash and no control character";
  }
  if (name === "." || name === "..") return "A drive cannot be called “.” or “..”";
  const length = new TextEncoder().encode(name).byteLength;
  return length > 128 ? `The name has ${length} bytes: at most 128 are allowed` : undefined;
}

/** An id that no other element of the page has. @param {string} name @returns {string} */
export function uniqueId(name) {
  return `${name}-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
}

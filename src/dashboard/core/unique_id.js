/** A unique element id. @param {string} name @returns {string} */
export function uniqueId(name) {
  return `${name}-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
}

/**
 * Whether a file on the person's disk can still be read: a browser tells a failed read as a failed network.
 *
 * @param {Blob} file
 * @returns {Promise<boolean>}
 */
export async function isReadable(file) {
  try {
    await file.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

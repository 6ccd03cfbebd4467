/**
 * Whether a local file can still be read. Browsers report a failed read like a failed network.
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

/**
 * A listener that does something with the server, one at a time; what fails is said in a notice.
 *
 * @param {import("./notices.js").Notices} notices
 * @param {() => Promise<unknown>} work
 * @returns {() => Promise<void>}
 */
export function busy(notices, work) {
  let isBusy = false;
  return async () => {
    if (isBusy) return;
    isBusy = true;
    try {
      await work();
    } catch (error) {
      notices.fail(error);
    } finally {
      isBusy = false;
    }
  };
}

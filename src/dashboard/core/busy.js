/**
 * A listener that runs one action at a time. Failures become notices.
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

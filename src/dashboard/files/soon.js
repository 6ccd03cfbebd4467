/**
 * Does something soon, however often it is asked for: once for all that happened meanwhile.
 *
 * @param {() => void} action
 * @param {AbortSignal} signal keeps it from being done
 * @param {number} [pause] milliseconds
 * @returns {() => void} asks for it
 */
export function soon(action, signal, pause = 100) {
  let isAsked = false;
  return () => {
    if (isAsked || signal.aborted) return;
    isAsked = true;
    setTimeout(() => {
      isAsked = false;
      if (!signal.aborted) action();
    }, pause);
  };
}

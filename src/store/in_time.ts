/** Something took longer than it may. */
export class Overdue extends Error {
  override readonly name = "Overdue";
}

/**
 * What the work gives, if that is within so many milliseconds.
 *
 * @param end Ends the waiting earlier.
 * @throws {Overdue} otherwise; what comes of the work later concerns nobody.
 */
export async function inTime<T>(time: number, work: Promise<T>, end?: Promise<void>): Promise<T> {
  work.catch(() => {});
  const overdue = Promise.withResolvers<never>();
  const timer = setTimeout(() => overdue.reject(new Overdue("No answer in time")), time);
  end?.then(() => overdue.reject(new Overdue("Nobody waits any more")));
  try {
    return await Promise.race([work, overdue.promise]);
  } finally {
    clearTimeout(timer);
  }
}

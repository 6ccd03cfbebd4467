import type { Store } from "../store/store.ts";
import { MIB } from "../rules/units.ts";
import type { UploadSlots } from "./upload_slots.ts";

/** Bytes for which space is reserved at a time if the size of a body is not announced. */
const UNANNOUNCED_STEP = 16 * MIB;

/** The body of a request that is to be stored. */
export interface StoredBody {
  /** Its size in bytes, if it is known. */
  announced: number | undefined;
  bytes: AsyncIterable<Uint8Array>;
}

/**
 * Stores a body of any size: waits for an upload slot of the project, and reserves space on the disk for the body, first
 * or as it arrives.
 *
 * @param work Reads the bytes that it is given.
 * @throws {HttpError} 503 if no slot becomes free in time.
 * @throws {StoreFull} if the disk has not enough space.
 */
export async function storeBody<T>(
  project: string,
  { store, slots }: { store: Pick<Store, "reserveDisk">; slots: UploadSlots },
  { announced, bytes }: StoredBody,
  work: (bytes: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  return await slots.run(project, async () => {
    using reserved = await store.reserveDisk(announced ?? UNANNOUNCED_STEP);
    if (announced === undefined) return await work(reserveAsItArrives(store, bytes));
    return await work(reserved?.track(bytes) ?? bytes);
  });
}

/** Returns the bytes of a body as they arrive, and reserves space for those after the first step. */
async function* reserveAsItArrives(
  store: Pick<Store, "reserveDisk">,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let left = UNANNOUNCED_STEP;
  for await (const piece of bytes) {
    left -= piece.byteLength;
    if (left < 0) {
      // Only looks: the bytes before are written by now, so the reservation of the caller is for these.
      using _room = await store.reserveDisk(UNANNOUNCED_STEP);
      left = UNANNOUNCED_STEP;
    }
    yield piece;
  }
}

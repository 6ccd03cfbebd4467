import { keys } from "../engine/keys.ts";
import type { FileRecord, LockRecord, LocksRecord, Place } from "../engine/records.ts";
import type { Beside } from "../files/file_reader.ts";
import { folderExists, rangesBelow } from "../listing/listing.ts";
import type { KvReader } from "../reads/read_queue.ts";
import { driveLocks } from "./lock_store.ts";

/** What is around the name of a file. */
export interface Surroundings {
  locks: readonly LockRecord[];
  /** Returns whether the folder exists that the name is in. A drive counts as one that does: see `Place.needsDrive`. */
  hasParent: () => Promise<boolean>;
  /** Returns whether there is a folder with this name. */
  isFolder: () => Promise<boolean>;
}

/**
 * Returns what `FileStore.put` reads beside the record of a file, so that locks and folders decide on a write as they are
 * right before it is committed. If a lock changes until then, the write is decided on again.
 *
 * @param require Throws what refuses the write.
 */
export function surroundings(
  reader: KvReader,
  place: Place,
  require: (current: FileRecord | undefined, around: Surroundings) => Promise<void>,
): Beside {
  const { name } = place;
  const parent = { ...place, name: name.slice(0, name.lastIndexOf("/") + 1) };
  const folder = { ...place, name: `${name}/` };
  const isInDrive = parent.name === "";
  return {
    keys: [keys.locks(place), ...(isInDrive ? [] : [keys.folder(parent)])],
    ranges: rangesBelow(folder),
    require: async (current, [locked, marker], isAny) => {
      const hasMarker = isInDrive || marker !== undefined && marker.versionstamp !== null;
      const { locks, unchanged } = driveLocks(locked as Deno.KvEntryMaybe<LocksRecord>);
      await require(current, {
        locks,
        hasParent: async () => hasMarker || await folderExists(reader, parent),
        isFolder: async () => isAny && await folderExists(reader, folder),
      });
      return unchanged;
    },
  };
}

import type { Entry, Place } from "../files/entry.ts";

/** Shows one file of a list over the page, with the next and the previous one. */
export function Lightbox(_: {
  place: Place;
  /** The files of the list, in its order. */
  files: readonly Entry[];
  /** The name of the file that is shown. */
  name: string;
  /** Shows another file: the address follows. */
  onMove: (name: string) => void;
  onClose: () => void;
}) {
  return null;
}

import type { Entry, Place } from "../files/entry.ts";

/** The side panel with the details of the selected entries. */
export function Details(_: {
  place: Place;
  entries: readonly Entry[];
  onClose: () => void;
}) {
  return null;
}

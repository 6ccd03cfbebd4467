import type { Entry, Place } from "../../files/entry.ts";
import type { View } from "../content/kinds.ts";

/** What every view of a file gets. */
export interface ViewProps {
  place: Place;
  entry: Entry;
  /** Shows the file in another way. */
  showAs: (view: View) => void;
}

import type { App } from "../../core/context.ts";
import type { MenuItem } from "../../ui/menu.tsx";
import type { Entry, Place } from "../entry.ts";

/** What changed in a folder, so that its list can follow without loading everything again. */
export interface FolderChange {
  /** Names that are gone, or were replaced. */
  removed: readonly string[];
  /** Whether entries may have appeared: the list loads them. */
  hasNew: boolean;
}

/** What people do with files and folders. */
export class FileActions {
  constructor(
    readonly app: App,
    readonly place: Place,
    readonly onChange: (change: FolderChange) => void,
  ) {}

  /** Returns the context menu for selected entries, or for the folder itself without any. */
  menuFor(_entries: readonly Entry[]): MenuItem[] {
    return [];
  }
}

import { signal } from "@preact/signals";
import type { App } from "../../core/context.ts";
import type { FolderChange } from "../actions/drive_files.ts";
import type { Entry, EntryList, Place } from "../entry.ts";
import { type BrowserStore, browserStoreOf } from "../listing/browser_store.ts";
import { Listing, readPage } from "../listing/listing.ts";
import { Thumbnails } from "../listing/thumbnails.ts";
import type { Transfers } from "../../transfers/transfers.ts";
import { FolderModel, type Room } from "./folder_model.ts";
import { createPreferences, type Preferences } from "../listing/preferences.ts";

/** Folders whose lists stay in memory, so that Back shows them at once. */
const MAX_FOLDERS = 6;
/** Entries of all these lists at most: more is read again. */
const MAX_ENTRIES = 150_000;

/** What the folders that are opened one after the other have in common. */
export class FilesRoom implements Room {
  readonly preferences: Preferences = createPreferences(localStorage);
  readonly thumbnails: Thumbnails;
  readonly copied = signal<EntryList | undefined>(undefined);
  readonly #store: BrowserStore;
  /** The lists by place. The first one was opened longest ago. */
  readonly #listings = new Map<string, Listing>();
  #open: FolderModel | undefined;

  constructor(readonly app: App) {
    this.#store = browserStoreOf(app.session);
    this.thumbnails = new Thumbnails(app, this.#store);
  }

  follow({ project, drive }: Place, change: FolderChange): void {
    const { place } = this.#open ?? {};
    const isSame = place?.project === project && place.drive === drive;
    const { hasNew, added } = change;
    const elsewhere = { removed: [], hasNew, ...(added === undefined ? {} : { added }) };
    this.#open?.apply(isSame ? change : elsewhere);
  }

  /** Lets the folder that is open follow what others changed in its drive. */
  followOthers(): Promise<void> {
    this.#open?.follow();
    return Promise.resolve();
  }

  /** Opens a folder, with the list that is known of it. */
  open(place: Place, transfers: Transfers): FolderModel {
    const key = keyOf(place);
    const listing = this.#listings.get(key) ?? this.#newListing(place, key);
    this.#listings.delete(key);
    this.#listings.set(key, listing);
    this.#forgetOld();
    return this.#open = new FolderModel(this, place, listing, transfers);
  }

  close(): void {
    this.thumbnails.close();
  }

  #newListing(place: Place, key: string): Listing {
    const listing = new Listing(
      (last, signal) => readPage(this.app.api, place, { last }, signal),
      ({ entries }) => void this.#store.put("listings", key, entries),
    );
    this.#store.get<Entry[]>("listings", key).then(
      (entries) => listing.seed(entries ?? []),
      () => {},
    );
    return listing;
  }

  #forgetOld(): void {
    let entries = 0;
    let folders = 0;
    for (const [key, listing] of [...this.#listings].toReversed()) {
      entries += listing.entries.value.length;
      if (++folders === 1 || (folders <= MAX_FOLDERS && entries <= MAX_ENTRIES)) continue;
      this.#listings.delete(key);
    }
  }
}

function keyOf({ project, drive, path }: Place): string {
  return JSON.stringify([project, drive, path]);
}

import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type App, createShared } from "../../core/context.ts";
import { links } from "../../core/links.ts";
import { paced } from "../../core/live.ts";
import { type DriveLinks, linksOf } from "../../links/drive_links.ts";
import type { Transfers } from "../../transfers/transfers.ts";
import type { FolderChange } from "../actions/drive_files.ts";
import { FileActions } from "../actions/file_actions.ts";
import type { Entry, EntryList, Place } from "../entry.ts";
import { filterEntries, type Filters, queryOf } from "../listing/filters.ts";
import type { Listing } from "../listing/listing.ts";
import { sortEntries } from "../listing/order.ts";
import type { Preferences } from "../listing/preferences.ts";
import {
  EMPTY,
  type Order,
  rename,
  retain,
  type Selection,
  selectThese,
} from "../listing/selection.ts";
import type { Thumbnails } from "../listing/thumbnails.ts";
import { startSearch } from "./search.ts";

/** Selected entries that are looked up one by one. */
const FEW = 100;
/** Time without another letter after which a search starts, in milliseconds. */
const SEARCH_DELAY = 250;

/** The state of an address whose preview was opened from the list: the entry before it in the history is the list. */
const OPENED_HERE = { isPreview: true };

/** What the folders that are opened one after the other have in common. */
export interface Room {
  readonly app: App;
  readonly preferences: Preferences;
  readonly thumbnails: Thumbnails;
  /** What was cut or copied last on this page, which the menu pastes: only keys reach the system's clipboard. */
  readonly copied: Signal<EntryList | undefined>;
  /** Lets the folder that is open follow a change in a drive, which may have been begun in another folder. */
  follow(place: Place, change: FolderChange): void;
}

interface Attention {
  /** Whether the focus comes from a button, too. */
  isTaking: boolean;
}

/** An open folder: its list, what is searched and filtered, and what is selected. */
export class FolderModel {
  readonly actions: FileActions;
  /** The links of the drive, which mark what is shared. */
  readonly shared: DriveLinks;
  /** The text that names are searched for; empty for the folder itself. */
  readonly query = signal("");
  /** The names that were looked at by the search. */
  readonly searched = signal(0);
  readonly filters = signal<Filters>({});
  readonly selection = signal<Selection>(EMPTY);
  readonly #attention = signal<Attention>({ isTaking: false });
  /**
   * Changes when the list shall show the entry that the keyboard is at. This is the one rule for the focus: the focus
   * follows that entry if it is in the list or nowhere, and after an action that made the entry from a button, too. It is
   * never taken from a field or a dialog.
   */
  readonly attention: ReadonlySignal<Attention> = this.#attention;
  /** Names that are selected and shown as soon as one of them is in the list. */
  #awaited: readonly string[] = [];
  /** Keeps where the list is, before its address is left. */
  keepPlace: () => void = () => {};
  readonly #hits = signal<Listing | undefined>(undefined);
  readonly #disposers: (() => void)[] = [];
  readonly #leaving = new AbortController();
  /** Whether the list of the folder was not read since the hits changed. */
  #isBehind = false;
  #searchTimer: number | undefined;

  constructor(
    readonly room: Room,
    readonly place: Place,
    readonly listing: Listing,
    readonly transfers: Transfers,
  ) {
    this.shared = linksOf(room.app, place.project, place.drive);
    this.actions = new FileActions(
      room.app,
      place,
      (change) => room.follow(place, change),
      (entries) => !this.isSearching && this.#isWhole(entries),
    );
  }

  /** The list that is shown: that of the folder, or the hits of a search. */
  readonly source: ReadonlySignal<Listing> = computed(() => this.#hits.value ?? this.listing);

  /** The entries in the order in which they are shown. */
  readonly rows: ReadonlySignal<readonly Entry[]> = computed(() =>
    sortEntries(
      filterEntries(this.source.value.entries.value, this.filters.value),
      this.room.preferences.sort.value,
    )
  );

  readonly order: ReadonlySignal<Order> = computed(() => orderOf(this.rows.value));

  readonly selected: ReadonlySignal<readonly Entry[]> = computed(() => {
    const { names } = this.selection.value;
    const rows = this.rows.value;
    if (names.size > FEW) return rows.filter(({ name }) => names.has(name));
    // Looking up a few names costs less than going through a long list after each key.
    const indexes = [...names].map((name) => this.order.value.indexOf(name));
    return indexes.sort((a, b) => a - b).flatMap((index) => rows[index] ?? []);
  });

  get isSearching(): boolean {
    return this.query.value !== "";
  }

  /** Reads the list, and follows what changes, until `stop`. */
  start(): void {
    // The links are no part of the list: it is shown without them.
    if (this.room.app.session.may("list")) {
      void this.listing.read().then(() => this.#loadLinks());
    }
    let before = this.order.peek();
    this.#disposers.push(
      effect(() => {
        const now = this.order.value;
        this.selection.value = retain(this.selection.peek(), before, now);
        before = now;
        this.#selectAwaited();
      }),
      follow(this.transfers.finished, (places) => {
        if (places.some((place) => this.#isBelow(place))) this.follow();
      }),
      follow(this.room.app.connection.restored, () => this.refresh()),
    );
  }

  async #loadLinks(): Promise<void> {
    const { session } = this.room.app;
    if (!session.may("list") || !session.may("read")) return;
    await this.shared.load().catch(() => {
      // The marks are missing until the folder is opened again; the page of links shows the reason.
    });
  }

  stop(): void {
    for (const dispose of this.#disposers.splice(0)) dispose();
    clearTimeout(this.#searchTimer);
    this.#leaving.abort();
    this.#hits.value?.stop();
    this.listing.stop();
  }

  /** Reads what is shown again. If that is a search, the list of the folder follows when it ends. */
  refresh(): Promise<void> {
    this.#isBehind = this.isSearching;
    return this.source.value.read();
  }

  /** Reads the list again soon, as something has changed. A reading that is under way is not interrupted. */
  readonly follow: () => void = paced(async () => {
    await this.source.peek().done;
    await this.refresh();
    // Uploads change no links, and their end is followed as well.
    if (!this.transfers.isBusy) await this.#loadLinks();
  }, this.#leaving.signal);

  /** Searches the drive for names with a text, or shows the folder again. */
  search(text: string, delay = SEARCH_DELAY): void {
    if (text === this.query.peek()) return;
    clearTimeout(this.#searchTimer);
    this.#hits.value?.stop();
    const hits = text === ""
      ? undefined
      : startSearch(this.room.app.api, this.place, text, (names) => {
        this.searched.value += names;
      });
    batch(() => {
      this.query.value = text;
      this.searched.value = 0;
      this.selection.value = EMPTY;
      this.#hits.value = hits;
    });
    if (hits === undefined && this.#isBehind) void this.refresh();
    if (hits !== undefined) this.#searchTimer = setTimeout(() => void hits.read(), delay);
  }

  /** The address of an entry: that of a folder, or of a file over its list. */
  hashOf({ kind, name }: Entry): string {
    const { project, drive, path } = this.place;
    if (kind === "folder") return links.folder(project, drive, name);
    const q = this.query.peek();
    const filters = queryOf(this.filters.peek());
    return links.folder(
      project,
      drive,
      path,
      q === "" ? { open: name.slice(path.length), ...filters } : { open: name, q, ...filters },
    );
  }

  /** Opens a folder, or a file over the list. */
  open(entry: Entry): void {
    this.keepPlace();
    this.room.app.router.go(this.hashOf(entry));
    if (entry.kind === "file") history.replaceState(OPENED_HERE, "");
  }

  /** Shows what passes filters. They are in the address, so a reload and a copied address show the same. */
  readonly filter = (filters: Filters): void => {
    this.filters.value = filters;
    this.room.app.router.replace(this.hash);
  };

  /** The address of the list, with its search and its filters. */
  get hash(): string {
    const { project, drive, path } = this.place;
    return links.folder(project, drive, path, {
      q: this.query.value,
      ...queryOf(this.filters.value),
    });
  }

  /** Lets the list show the entry that the keyboard is at, and the focus follow it. */
  attend(isTaking = false): void {
    this.#attention.value = { isTaking };
  }

  #selectAwaited(): void {
    const found = this.#awaited.filter((name) => this.order.peek().indexOf(name) >= 0);
    if (found.length === 0) return;
    this.#awaited = [];
    this.selection.value = selectThese(found);
    this.attend(true);
  }

  /** Shows a change, and reads the list again if it needs that. */
  apply({ removed, hasNew, renamed, added }: FolderChange): void {
    this.#awaited = added?.drive === this.place.drive ? added.names : [];
    batch(() => {
      for (const list of [this.listing, this.#hits.value]) {
        if (renamed !== undefined) list?.rename(renamed);
        list?.remove(removed);
      }
      if (renamed !== undefined) this.selection.value = rename(this.selection.peek(), renamed);
    });
    if (renamed !== undefined) this.attend();
    this.#selectAwaited();
    if (hasNew) void this.refresh();
  }

  #isWhole({ length }: readonly Entry[]): boolean {
    const { entries, progress } = this.listing;
    return progress.value === "complete" && length === entries.value.length;
  }

  #isBelow({ project, drive, path }: Place): boolean {
    const { place } = this;
    return project === place.project && drive === place.drive && path.startsWith(place.path);
  }
}

/** Calls a function when a signal changes, not with its present value. */
function follow<T>(of: ReadonlySignal<T>, run: (value: T) => void): () => void {
  let isFirst = true;
  return of.subscribe((value) => {
    if (!isFirst) run(value);
    isFirst = false;
  });
}

/** Entries as a list for selections. Indexes of names are found when the first one is asked for. */
function orderOf(rows: readonly Entry[]): Order {
  let indexes: Map<string, number> | undefined;
  return {
    length: rows.length,
    nameAt: (index) => rows[index]?.name,
    indexOf: (name) => {
      indexes ??= new Map(rows.map((entry, index) => [entry.name, index]));
      return indexes.get(name) ?? -1;
    },
  };
}

export const [FolderContext, useFolder] = createShared<FolderModel>("FolderContext");

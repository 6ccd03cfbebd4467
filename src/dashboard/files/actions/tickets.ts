import { dataOf } from "../../core/api.ts";
import type { App } from "../../core/context.ts";
import { plural } from "../../core/format.ts";
import { type Entry, folderOf, labelOf, type Place } from "../entry.ts";

/** A ticket is replaced this long before it ends, in milliseconds: a video may still play. */
const RESERVE = 10 * 60_000;
/** Folders whose tickets are kept. */
const MAX_TICKETS = 50;
/** The most files and folders that a ticket names. */
const MAX_FILES = 1000;
const MAX_FOLDERS = 100;

const TOO_MANY =
  `At most ${plural(MAX_FILES, "file")} and ${plural(MAX_FOLDERS, "folder")} can be selected for ` +
  "a download: select fewer, or download their folder";

interface Ticket {
  url: string;
  expires: number;
}

/** Addresses that open files without the headers of the API, for images, players and downloads of the browser. */
export class Tickets {
  readonly #tickets = new Map<string, { ticket: Promise<Ticket>; expires: number }>();

  constructor(private readonly app: Pick<App, "api" | "session">) {}

  /** Returns the address of a file. A folder has one ticket, which is used until shortly before it ends. @throws {ApiError} */
  async addressOf(place: Place, name: string, isDownload = false): Promise<string> {
    const { url } = await this.#ticketOf({ ...place, path: folderOf({ name }) });
    return `${url}?${new URLSearchParams({ name, ...(isDownload ? { download: "true" } : {}) })}`;
  }

  /**
   * Returns the address of files and folders as a ZIP, for which a ticket is made.
   *
   * @param isEverything Whether these are all entries of the folder.
   * @throws {ApiError}
   * @throws {Error} If there are too many.
   */
  async archiveOf(
    place: Place,
    entries: readonly Entry[],
    isEverything: boolean,
  ): Promise<string> {
    const namesOf = (kind: Entry["kind"]) =>
      entries.filter((entry) => entry.kind === kind).map(({ name }) => name);
    let [names, prefixes] = [namesOf("file"), namesOf("folder")];
    if (names.length > MAX_FILES || prefixes.length > MAX_FOLDERS) {
      if (!isEverything) throw new Error(TOO_MANY);
      [names, prefixes] = [[], [place.path]];
    }
    const { url } = await this.#make(place, names, prefixes);
    const [first, ...others] = entries;
    const label = first === undefined || others.length > 0 ? place.drive : labelOf(first);
    return `${url}?${new URLSearchParams({ zip: `${label}.zip` })}`;
  }

  /** Makes a new ticket for the folder of a file when it is asked for next. */
  forget(place: Place, name: string): void {
    this.#tickets.delete(this.#keyOf({ ...place, path: folderOf({ name }) }));
  }

  #ticketOf(folder: Place): Promise<Ticket> {
    const key = this.#keyOf(folder);
    const known = this.#tickets.get(key);
    if (known !== undefined && known.expires - RESERVE > Date.now()) return known.ticket;
    const ticket = this.#make(folder, [], [folder.path]);
    // Until it is there, all who ask wait for the same one.
    const made = { ticket, expires: Infinity };
    ticket.then(
      ({ expires }) => void (made.expires = expires),
      () => void (made.expires = 0),
    );
    this.#tickets.delete(key);
    this.#tickets.set(key, made);
    const [oldest] = this.#tickets.keys();
    if (this.#tickets.size > MAX_TICKETS && oldest !== undefined) this.#tickets.delete(oldest);
    return ticket;
  }

  async #make(
    { project, drive }: Place,
    names: string[],
    prefixes: string[],
  ): Promise<Ticket> {
    const body = { project_id: project, drive_name: drive, names, prefixes };
    const { url, expires } = await dataOf(this.app.api.POST("/dashboard/downloads", { body }));
    return { url, expires: Date.parse(expires) };
  }

  /** A ticket ends with its session. */
  #keyOf({ project, drive, path }: Place): string {
    return JSON.stringify([this.app.session.current.peek()?.id, project, drive, path]);
  }
}

const known = new WeakMap<object, Tickets>();

export function ticketsOf(app: Pick<App, "api" | "session">): Tickets {
  const tickets = known.get(app.api) ?? new Tickets(app);
  known.set(app.api, tickets);
  return tickets;
}

import type { NameFilter } from "../../rules/transfer/globs.ts";
import { requireApart } from "./remote_changes.ts";
import { remoteTree } from "./remote_tree.ts";
import type { SyncSides } from "./sync.ts";
import type { FileEntry, TreeEntry } from "./tree.ts";
import type { RemoteFolder, SyncServer } from "./upload_sides.ts";

/** Makes a folder of a drive like another folder of the project. The server copies the files; no bytes are sent. */
export class CopySides implements SyncSides {
  readonly place: RemoteFolder;
  readonly #from: RemoteFolder;
  readonly #server: SyncServer;
  readonly #filter: NameFilter;

  /** @throws {ClientError} if one of the folders is in the other one. */
  constructor(from: RemoteFolder, to: RemoteFolder, server: SyncServer, filter: NameFilter) {
    requireApart(from, to);
    this.#from = from;
    this.place = to;
    this.#server = server;
    this.#filter = filter;
  }

  source(): AsyncIterable<TreeEntry> {
    return remoteTree(this.#server.drives, this.#from, { filter: this.#filter });
  }

  target(): AsyncIterable<TreeEntry> {
    return remoteTree(this.#server.drives, this.place, { filter: this.#filter });
  }

  /**
   * A copy keeps the client's time. Without one, only a copy that was made before the source was written is known to
   * differ: an older file may have been moved to the name of the source since, or restored from the trash.
   */
  hasSameTime({ file: source }: FileEntry, { file: target }: FileEntry): boolean | undefined {
    if (source === undefined || target === undefined) return false;
    if (source.mtime !== undefined || target.mtime !== undefined) {
      return source.mtime === target.mtime;
    }
    return target.modified >= source.modified ? undefined : false;
  }

  async hasSameBytes(source: FileEntry, target: FileEntry): Promise<boolean | undefined> {
    const { drives } = this.#server;
    const [one, other] = await Promise.all([
      drives.stat(this.#from.drive, this.#from.prefix + source.name),
      drives.stat(this.place.drive, this.place.prefix + target.name),
    ]);
    if (one?.sha256 === undefined || other?.sha256 === undefined) return undefined;
    return one.sha256 === other.sha256;
  }

  async send({ name, size }: FileEntry): Promise<number | undefined> {
    const { drive, prefix } = this.#from;
    const relocation = { kind: "copy", drive, toDrive: this.place.drive, overwrite: true } as const;
    const pair = { from: prefix + name, to: this.place.prefix + name };
    return await this.#server.changes.relocate(relocation, pair) ? size : undefined;
  }

  async makeFolder(name: string): Promise<void> {
    await this.#server.drives.createFolder(this.place.drive, this.place.prefix + name);
  }

  async remove(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { drive, prefix } = this.place;
    const files = names.filter((name) => !name.endsWith("/")).map((name) => prefix + name);
    const failed = files.length === 0 ? [] : await this.#server.drives.remove(drive, files);
    for (const name of names) {
      if (name.endsWith("/")) await this.#server.changes.deleteFolder(drive, prefix + name);
    }
    const reason = "The server could not delete it";
    return new Map(failed.map((name) => [name.slice(prefix.length), reason]));
  }
}

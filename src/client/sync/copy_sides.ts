import type { NameFilter } from "../../rules/transfer/globs.ts";
import { requireApart } from "./remote_changes.ts";
import { remoteTree } from "./remote_tree.ts";
import type { SyncSides } from "./sync.ts";
import type { FileEntry, TreeEntry } from "./tree.ts";
import type { RemoteFolder, SyncServer } from "./upload_sides.ts";

/** Makes a folder of a drive like another folder of the project. The server copies the files; no bytes are sent. */
export class CopySides implements SyncSides {
  readonly place: RemoteFolder;

  /** @throws {ClientError} if one of the folders is in the other one. */
  constructor(
    private readonly from: RemoteFolder,
    to: RemoteFolder,
    private readonly server: SyncServer,
    private readonly filter: NameFilter,
  ) {
    requireApart(from, to);
    this.place = to;
  }

  source(): AsyncIterable<TreeEntry> {
    return remoteTree(this.server.drives, this.from, { filter: this.filter });
  }

  target(): AsyncIterable<TreeEntry> {
    return remoteTree(this.server.drives, this.place, { filter: this.filter });
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
    const { drives } = this.server;
    const [one, other] = await Promise.all([
      drives.stat(this.from.drive, this.from.prefix + source.name),
      drives.stat(this.place.drive, this.place.prefix + target.name),
    ]);
    if (one?.sha256 === undefined || other?.sha256 === undefined) return undefined;
    return one.sha256 === other.sha256;
  }

  async send({ name, size }: FileEntry): Promise<number | undefined> {
    const { drive, prefix } = this.from;
    const relocation = { kind: "copy", drive, toDrive: this.place.drive, overwrite: true } as const;
    const pair = { from: prefix + name, to: this.place.prefix + name };
    return await this.server.changes.relocate(relocation, pair) ? size : undefined;
  }

  async makeFolder(name: string): Promise<void> {
    await this.server.drives.createFolder(this.place.drive, this.place.prefix + name);
  }

  async remove(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return await this.server.changes.remove(this.server.drives, this.place, names);
  }
}

import type { NameFilter } from "../../rules/transfer/globs.ts";
import { ClientError } from "../errors.ts";
import { relocate } from "./relocation.ts";
import type { RemoteDrives } from "../drives.ts";
import { type RemoteFolder, remoteTree, removeIn } from "./remote_tree.ts";
import type { SyncSides } from "./sync.ts";
import type { FileEntry, TreeEntry } from "./tree.ts";

/** Makes a folder of a drive like another folder of the project. The server copies the files; no bytes are sent. */
export class CopySides implements SyncSides {
  /** @throws {ClientError} if one of the folders is in the other one: copying would have no end. */
  constructor(
    private readonly from: RemoteFolder,
    readonly place: RemoteFolder,
    private readonly drives: RemoteDrives,
    private readonly filter: NameFilter,
  ) {
    const isInside = place.prefix.startsWith(from.prefix) || from.prefix.startsWith(place.prefix);
    if (from.drive !== place.drive || !isInside) return;
    throw new ClientError(
      `${from.drive}:${from.prefix} and ${place.drive}:${place.prefix} are in each other: choose folders apart`,
    );
  }

  source(): AsyncIterable<TreeEntry> {
    return remoteTree(this.drives, this.from, { filter: this.filter });
  }

  target(): AsyncIterable<TreeEntry> {
    return remoteTree(this.drives, this.place, { filter: this.filter });
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
    const [one, other] = await Promise.all([
      this.drives.stat(this.from.drive, this.from.prefix + source.name),
      this.drives.stat(this.place.drive, this.place.prefix + target.name),
    ]);
    if (one?.sha256 === undefined || other?.sha256 === undefined) return undefined;
    return one.sha256 === other.sha256;
  }

  async send({ name, size }: FileEntry): Promise<number | undefined> {
    const { drive, prefix } = this.from;
    const relocation = { kind: "copy", drive, toDrive: this.place.drive, overwrite: true } as const;
    const pair = { from: prefix + name, to: this.place.prefix + name };
    return await relocate(this.drives, relocation, pair) ? size : undefined;
  }

  async makeFolder(name: string): Promise<void> {
    await this.drives.createFolder(this.place.drive, this.place.prefix + name);
  }

  async remove(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return await removeIn(this.drives, this.place, names);
  }
}

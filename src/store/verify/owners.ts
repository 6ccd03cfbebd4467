import { keys, prefixes } from "../keys.ts";
import type { FileRecord, ManifestPage, PartRecord, Place, UploadSession } from "../records.ts";
import type { Snapshot } from "../snapshot.ts";

/** Tells whose the chunks of a version are. Asked in the order of the store, it remembers what it needs. */
export class Owners {
  readonly #snapshot: Snapshot;
  #drive: { id: string; uploads: Map<string, string[]> } | undefined;
  #name: { id: string; sizes: Map<string, number> } | undefined;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  /**
   * How many bytes of a version belong to a file, to a part of an open upload or to a list of parts; `undefined` where
   * none does.
   */
  sizeOf(place: Place, version: string): number | undefined {
    return this.#sizesOf(place).get(version);
  }

  #sizesOf(place: Place): Map<string, number> {
    const id = JSON.stringify([place.project, place.drive, place.name]);
    if (this.#name?.id !== id) this.#name = { id, sizes: this.#collect(place) };
    return this.#name.sizes;
  }

  #collect(place: Place): Map<string, number> {
    const sizes = new Map<string, number>();
    for (const id of this.#uploadsOf(place)) {
      const parts = prefixes.parts(place.project, place.drive, id);
      for (const { value } of this.#snapshot.list<PartRecord>(parts)) {
        sizes.set(value.version, value.size);
      }
    }
    for (const { value } of this.#snapshot.list<ManifestPage>(prefixes.manifests(place))) {
      value.versions.forEach((version, i) => sizes.set(version, value.sizes[i] ?? 0));
    }
    const file = this.#snapshot.get<FileRecord>(keys.file(place))?.value;
    if (file?.layout.kind === "chunks") sizes.set(file.layout.version, file.size);
    return sizes;
  }

  /** The open uploads of a file. */
  #uploadsOf({ project, drive, name }: Place): readonly string[] {
    const id = JSON.stringify([project, drive]);
    if (this.#drive?.id !== id) {
      const uploads = new Map<string, string[]>();
      const all = prefixes.ofDrive("upload", project, drive);
      for (const { key, value } of this.#snapshot.list<UploadSession>(all)) {
        const same = uploads.get(value.name) ?? [];
        same.push(String(key.at(-1)));
        uploads.set(value.name, same);
      }
      this.#drive = { id, uploads };
    }
    return this.#drive.uploads.get(name) ?? [];
  }
}

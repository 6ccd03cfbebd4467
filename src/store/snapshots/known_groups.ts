/**
 * The groups that a repository has already: those of the newest snapshot, and those that a run left which was interrupted.
 *
 * @module
 */
import { FOOTER_LIMIT, footerLength, readFooter } from "../../repository/data_object.ts";
import { DamagedObject } from "../../repository/errors.ts";
import type { Snapshot } from "../../repository/manifest.ts";
import { FOLDERS, PARALLEL, type Repository } from "../../repository/repository.ts";
import type { Bytes } from "../../repository/bytes.ts";
import {
  compareBytes,
  fingerprintId,
  type ObjectRef,
  type TreeEntry,
  walkTree,
} from "../../repository/tree.ts";
import { equals } from "@std/bytes/equals";

/** Objects whose sizes are compared with those in the target, at most: they take some 40 MB of memory. */
const MAX_LISTED = 300_000;

export class KnownGroups {
  /** The sizes of the objects of data; `undefined` if they are too many. */
  #listed: Map<string, number> | undefined;
  #walk: AsyncGenerator<readonly TreeEntry[]> | undefined;
  /** Groups of the newest snapshot, in the order of their keys, and the one that is looked at. */
  #groups: readonly TreeEntry[] = [];
  #at = 0;
  readonly #nodes = new Map<string, ObjectRef>();
  readonly #left = new Map<string, Pick<TreeEntry, "object" | "ordinal">>();

  private constructor(private readonly repository: Repository) {}

  /**
   * @param parent The newest snapshot, if there is one.
   * @param hasUnfinished Whether a run was interrupted, or is running.
   */
  static async open(
    repository: Repository,
    parent: Snapshot | undefined,
    hasUnfinished: boolean,
  ): Promise<KnownGroups> {
    const known = new KnownGroups(repository);
    await known.#list();
    if (hasUnfinished) await known.#findLeft(parent);
    known.#walk = parent && known.#walkOver(parent);
    return known;
  }

  /** Returns where a group is, if the repository has it. Groups have to be asked for in the order of their keys. */
  async find(key: Bytes, fingerprint: Bytes): Promise<TreeEntry | undefined> {
    const next = await this.#reach(key);
    if (
      next !== undefined && equals(next.key, key) && equals(next.fingerprint, fingerprint) &&
      this.#exists(next.object)
    ) return next;
    const left = this.#left.get(fingerprintId(fingerprint));
    return left && { key, fingerprint, ...left };
  }

  /** Returns where a node of a tree is, if the newest snapshot has it. */
  node(fingerprint: Bytes): ObjectRef | undefined {
    return this.#nodes.get(fingerprintId(fingerprint));
  }

  /** An object that was lost is sent again. */
  #exists({ name, size }: ObjectRef): boolean {
    return this.#listed === undefined || this.#listed.get(name) === size;
  }

  async #list(): Promise<void> {
    const sizes = new Map<string, number>();
    for await (const { name, size } of this.repository.target.list(FOLDERS.data)) {
      sizes.set(name.slice(FOLDERS.data.length + 1), size);
      if (sizes.size > MAX_LISTED) return;
    }
    this.#listed = sizes;
  }

  #walkOver({ root }: Snapshot): AsyncGenerator<readonly TreeEntry[]> {
    return walkTree(root, this.repository.loadNode, {
      onNode: (node, fingerprint) => this.#nodes.set(fingerprintId(fingerprint), node),
      // What is below a damaged node is sent again.
      onError: ignoreDamage,
    });
  }

  /** Returns the first group of the newest snapshot that has this key or a later one. */
  async #reach(key: Bytes): Promise<TreeEntry | undefined> {
    while (true) {
      for (; this.#at < this.#groups.length; this.#at++) {
        const group = this.#groups[this.#at];
        if (group !== undefined && compareBytes(group.key, key) >= 0) return group;
      }
      const node = await this.#walk?.next();
      if (node === undefined || node.done) return undefined;
      [this.#groups, this.#at] = [node.value, 0];
    }
  }

  /** Reads the footers of the objects that the newest snapshot does not use. */
  async #findLeft(parent: Snapshot | undefined): Promise<void> {
    if (this.#listed === undefined) return;
    const left = new Map(this.#listed);
    if (parent !== undefined) {
      for await (const groups of this.#walkOver(parent)) {
        for (const { object } of groups) left.delete(object.name);
      }
    }
    const names = [...left.keys()];
    const work = async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        await this.#addLeft({ name, size: left.get(name) ?? 0 });
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
  }

  async #addLeft(object: ObjectRef): Promise<void> {
    const path = `${FOLDERS.data}/${object.name}`;
    const { target, sealer } = this.repository;
    let end = await target.get(path, FOOTER_LIMIT);
    if (end === undefined) return;
    try {
      const length = footerLength(end);
      if (length > end.byteLength && length < object.size) end = await target.get(path, length);
      if (end === undefined) return;
      for (const [ordinal, { fingerprint }] of readFooter(end, sealer).entries()) {
        this.#left.set(fingerprintId(fingerprint), { object, ordinal });
      }
    } catch {
      // It is damaged, or was encrypted with another key: nothing uses it.
    }
  }
}

function ignoreDamage(error: unknown): void {
  if (!(error instanceof DamagedObject)) throw error;
}

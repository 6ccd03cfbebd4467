/**
 * Single entries of a store as a snapshot has them. Of the repository it reads the nodes and objects that have them.
 *
 * @module
 */
import { ByteReader } from "../../../repository/bytes.ts";
import { readGroups } from "../../../repository/data_object.ts";
import { BadFormat, DamagedObject } from "../../../repository/errors.ts";
import type { Snapshot } from "../../../repository/manifest.ts";
import { FOLDERS, type Repository } from "../../../repository/repository.ts";
import type { Bytes } from "../../../repository/bytes.ts";
import {
  compareBytes,
  type LoadNode,
  type TreeEntry,
  type TreeNode,
  walkFrom,
} from "../../../repository/tree.ts";
import { isByteKind } from "../../engine/records/kinds.ts";
import {
  afterKey,
  decodeKey,
  decodeValue,
  encodeKey,
  prefixRange,
} from "../../reads/kv_encoding.ts";
import { readRows, type Section, SECTIONS, type StoredRow, treeKey } from "../rows.ts";

/** Objects, and nodes, that are kept in memory. */
const KEPT_OBJECTS = 4;
const KEPT_NODES = 16;

/** Receives what cannot be read, which is left out. */
type OnDamage = (error: DamagedObject) => void;

/** A prune has rewritten what was to be read. */
class Moved extends Error {}

export class SnapshotReader {
  readonly #objects = new Map<string, Promise<Bytes[]>>();
  readonly #nodes = new Map<string, Promise<TreeNode>>();

  /** The manifest that is valid. */
  #current: Snapshot;

  constructor(private readonly repository: Repository, readonly snapshot: Snapshot) {
    this.#current = snapshot;
  }

  /** Returns the value of an entry; `undefined` if there is none. @throws {DamagedObject} */
  async get<T>(key: Deno.KvKey): Promise<T | undefined> {
    const bytes = encodeKey(key);
    for await (const row of this.rows(sectionOf(key), bytes, afterKey(bytes))) {
      return decodeValue(key, row) as T;
    }
    return undefined;
  }

  /** Yields the keys and values below a prefix, in their order. @throws {DamagedObject} */
  async *list<T>(prefix: Deno.KvKey): AsyncGenerator<{ key: (string | number)[]; value: T }> {
    const [start, end] = prefixRange(prefix);
    for await (const row of this.rows(sectionOf(prefix), start, end)) {
      const key = decodeKey(row.k);
      if (key !== undefined) yield { key, value: decodeValue(key, row) as T };
    }
  }

  /**
   * Yields the rows from one key to another (excluded).
   *
   * @param onDamage Receives what cannot be read, which is left out; without it, it is thrown.
   */
  async *rows(
    section: Section,
    start: Bytes,
    end: Bytes,
    onDamage?: OnDamage,
  ): AsyncGenerator<StoredRow> {
    const last = treeKey(section, end);
    for await (const entry of this.#groupsFrom(treeKey(section, start), onDamage)) {
      if (compareBytes(entry.key, last) >= 0) return;
      let rows: StoredRow[] = [];
      try {
        rows = await this.#rows(entry);
      } catch (error) {
        if (onDamage === undefined || !(error instanceof DamagedObject)) throw error;
        onDamage(error);
      }
      for (const row of rows) {
        if (compareBytes(row.k, start) >= 0 && compareBytes(row.k, end) < 0) yield row;
      }
    }
  }

  /** Yields the groups from the one on that a key of the tree is in. */
  async *#groupsFrom(key: Bytes, onDamage?: OnDamage): AsyncGenerator<TreeEntry> {
    const passOn = async (error: unknown) => {
      if (await this.#hasMoved(error)) throw new Moved();
      if (onDamage === undefined || !(error instanceof DamagedObject)) throw error;
      onDamage(error);
    };
    const load: LoadNode = (object, level) =>
      kept(this.#nodes, object.name, KEPT_NODES, () => this.repository.loadNode(object, level));
    let done: Bytes | undefined;
    while (true) {
      try {
        for await (const entry of walkFrom(this.#current.root, done ?? key, load, passOn)) {
          if (done !== undefined && compareBytes(entry.key, done) <= 0) continue;
          done = entry.key;
          yield entry;
        }
        return;
      } catch (error) {
        if (!(error instanceof Moved)) throw error;
      }
    }
  }

  async #rows(entry: TreeEntry): Promise<StoredRow[]> {
    try {
      return await this.#rowsIn(entry);
    } catch (error) {
      if (!await this.#hasMoved(error)) throw error;
      for await (const moved of this.#groupsFrom(entry.key)) return await this.#rowsIn(moved);
      throw error;
    }
  }

  /** Returns whether a prune has rewritten what cannot be read. */
  async #hasMoved(error: unknown): Promise<boolean> {
    if (!(error instanceof DamagedObject)) return false;
    const { id, object } = this.#current;
    const snapshots = await this.repository.snapshots(() => {});
    this.#current = snapshots.find((one) => one.id === id) ?? this.#current;
    return this.#current.object !== object;
  }

  async #rowsIn({ object: { name }, ordinal }: TreeEntry): Promise<StoredRow[]> {
    const path = `${FOLDERS.data}/${name}`;
    const { repository } = this;
    const groups = await kept(this.#objects, name, KEPT_OBJECTS, async () => {
      const bytes = await repository.read("data", name);
      return await readGroups(bytes, repository.sealer);
    }).catch((error: unknown) => {
      if (error instanceof BadFormat) throw new DamagedObject(path, error.message);
      throw error;
    });
    const group = groups[ordinal];
    if (group === undefined) throw new DamagedObject(path, "lacks a group");
    return [...readRows(new ByteReader(group))];
  }
}

function sectionOf([kind]: Deno.KvKey): Section {
  if (!isByteKind(kind)) return SECTIONS.records;
  return kind === "chunk" ? SECTIONS.chunks : SECTIONS.checksums;
}

/** Returns what was kept under a name, or makes it. What was made first is dropped first. */
function kept<T>(
  cache: Map<string, Promise<T>>,
  name: string,
  limit: number,
  make: () => Promise<T>,
): Promise<T> {
  const found = cache.get(name);
  if (found !== undefined) return found;
  const made = make();
  cache.set(name, made);
  for (const oldest of cache.keys()) {
    if (cache.size <= limit) break;
    cache.delete(oldest);
  }
  return made;
}

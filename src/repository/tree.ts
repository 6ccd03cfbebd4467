/**
 * The tree of a snapshot: its groups in the order of their keys, in nodes of some thousand entries. Each node is an object.
 * Where a node begins depends on keys alone, so a change alters one node on each level, and snapshots share the others.
 *
 * @module
 */
import { decodeHex, encodeHex } from "@std/encoding/hex";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { MAX_GROUPS } from "./data_object.ts";
import { BadFormat } from "./errors.ts";
import type { Bytes } from "./bytes.ts";

/** An object, and its bytes. */
export interface ObjectRef {
  /** The SHA-256 of its bytes, in hexadecimal. */
  name: string;
  size: number;
}

/** An entry of a node: a group, or a node of the level below. */
export interface TreeEntry {
  /** The first key below it. */
  key: Bytes;
  /** Only the same content has the same 16 bytes: see `fingerprintOf`. */
  fingerprint: Bytes;
  /** What it is in. */
  object: ObjectRef;
  /** The place of a group in its object; 0 for a node. */
  ordinal: number;
}

export interface TreeRoot extends Pick<TreeEntry, "fingerprint" | "object"> {
  /** 0 if its entries are groups. */
  level: number;
}

/** Bits of a key's hash that begin a node on one level, so a node has 256 entries on average; and the most it has. */
const NODE_BITS = 8;
const MAX_ENTRIES = 4096;

const HASH_BITS = 32;

/** Levels of a tree, at most: more than enough for 10^15 groups. */
export const MAX_LEVEL = 8;

const FINGERPRINT_LENGTH = 16;
const NAME_LENGTH = 32;

/** Returns the first half of the SHA-256 of pieces. */
export function fingerprintOf(...pieces: Uint8Array[]): Bytes {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return new Uint8Array(hash.digest()).slice(0, FINGERPRINT_LENGTH);
}

/** Returns a text that only equal fingerprints have in common. */
export function fingerprintId(fingerprint: Uint8Array): string {
  return encodeHex(fingerprint);
}

/** A node as it is before it is sealed. */
export interface TreeNode {
  level: number;
  entries: readonly TreeEntry[];
}

/** Returns a node after a 0, as `pack` takes it. */
export function encodeNode({ level, entries }: TreeNode): Bytes {
  const objects = new Map<string, { index: number; size: number }>();
  for (const { object: { name, size } } of entries) {
    if (!objects.has(name)) objects.set(name, { index: objects.size, size });
  }
  const writer = new ByteWriter(64 * entries.length);
  writer.byte(0);
  writer.byte(level);
  writer.number(objects.size);
  for (const [name, { size }] of objects) {
    writer.bytes(decodeHex(name));
    writer.number(size);
  }
  writer.number(entries.length);
  for (const { key, fingerprint, object, ordinal } of entries) {
    writer.sized(key);
    writer.bytes(fingerprint);
    writer.number(objects.get(object.name)?.index ?? 0);
    writer.number(ordinal);
  }
  return writer.written;
}

/** @throws {BadFormat} */
export function decodeNode(bytes: Bytes): TreeNode {
  const reader = new ByteReader(bytes);
  const level = reader.byte();
  if (level > MAX_LEVEL) throw new BadFormat("is on a level that does not exist");
  const objects: ObjectRef[] = [];
  for (let rest = countIn(reader); rest > 0; rest--) {
    objects.push({ name: encodeHex(reader.bytes(NAME_LENGTH)), size: reader.number() });
  }
  const entries: TreeEntry[] = [];
  for (let rest = countIn(reader); rest > 0; rest--) {
    const key = reader.sized();
    const fingerprint = reader.bytes(FINGERPRINT_LENGTH);
    const object = objects[reader.number()];
    if (object === undefined) throw new BadFormat("names an object that it does not list");
    const ordinal = reader.number();
    if (ordinal >= MAX_GROUPS) throw new BadFormat("names a group that no object has");
    entries.push({ key, fingerprint, object, ordinal });
  }
  if (!reader.isAtEnd) throw new BadFormat("is too long");
  return { level, entries };
}

/** @throws {BadFormat} for a count that would take memory for nothing. */
function countIn(reader: ByteReader): number {
  const count = reader.number();
  if (count <= MAX_ENTRIES) return count;
  throw new BadFormat("has too many entries");
}

/** An entry whose object may still be on its way. */
interface PendingEntry {
  key: Bytes;
  entry: TreeEntry | Promise<TreeEntry>;
}

/** Stores a node. Returns the object that it is in. */
export type StoreNode = (node: TreeNode, fingerprint: Bytes, bytes: Bytes) => Promise<ObjectRef>;

/** Builds a tree from groups in the order of their keys. */
export class TreeBuilder {
  readonly #levels: PendingEntry[][] = [[]];

  constructor(private readonly storeNode: StoreNode) {}

  add(key: Bytes, entry: TreeEntry | Promise<TreeEntry>): void {
    this.#add(0, { key, entry });
  }

  /** Stores what is left. Returns the top of the tree; `undefined` if it is empty. */
  async finish(): Promise<TreeRoot | undefined> {
    for (let level = 0;; level++) {
      const entries = this.#levels[level] ?? [];
      const isTop = this.#levels.length === level + 1;
      const [only] = entries;
      if (isTop && level > 0 && entries.length === 1 && only !== undefined) {
        const { fingerprint, object } = await only.entry;
        return { fingerprint, object, level: level - 1 };
      }
      if (isTop && entries.length === 0) return undefined;
      if (entries.length > 0) this.#flush(level);
    }
  }

  #add(level: number, added: PendingEntry): void {
    const entries = this.#levels[level] ??= [];
    const isFull = entries.length >= MAX_ENTRIES;
    if (entries.length > 0 && (isFull || beginsNode(added.key, level))) this.#flush(level);
    this.#levels[level]?.push(added);
  }

  #flush(level: number): void {
    const entries = this.#levels[level] ?? [];
    this.#levels[level] = [];
    const [first] = entries;
    if (first === undefined) return;
    const entry = this.#store(level, entries);
    // `finish` awaits it; until then it counts as handled.
    entry.catch(() => {});
    this.#add(level + 1, { key: first.key, entry });
  }

  async #store(level: number, pending: readonly PendingEntry[]): Promise<TreeEntry> {
    const entries = await Promise.all(pending.map(({ entry }) => entry));
    const node = { level, entries };
    const bytes = encodeNode(node);
    const fingerprint = fingerprintOf(bytes);
    const object = await this.storeNode(node, fingerprint, bytes);
    return { key: entries[0]?.key ?? new Uint8Array(), fingerprint, object, ordinal: 0 };
  }
}

/** The keys of an upper level have zeros in the bits of those below. */
function beginsNode(key: Bytes, level: number): boolean {
  const used = level * NODE_BITS;
  return used < HASH_BITS && (keyHash(key) >>> used) % 2 ** NODE_BITS === 0;
}

/**
 * Returns 32 bits that depend on a key and nothing else. Checksums of names that are alike are alike, so their bits are
 * mixed as MurmurHash3 does at its end.
 */
export function keyHash(key: Uint8Array): number {
  let hash = crc32(key);
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  return (hash ^ hash >>> 16) >>> 0;
}

/** Returns a node by the object that it is in. */
export type LoadNode = (object: ObjectRef, level: number) => Promise<TreeNode>;

/** What a walk over a tree leaves out, or does where a node cannot be read. */
export interface WalkOptions {
  /** Returns whether to leave out what is below a node. */
  skips?: (node: ObjectRef) => boolean;
  /** Receives each node that was read, with its fingerprint. */
  onNode?: (node: ObjectRef, fingerprint: Bytes) => void;
  /** Receives an error and the first key of what cannot be read; throws, or leaves it out. */
  onError?: (error: unknown, key: Bytes | undefined) => void;
}

/** Nodes that are read ahead. */
const READ_AHEAD = 4;

/** Yields the groups of a tree in the order of their keys: those of a node at a time, as each step takes a while. */
export async function* walkTree(
  { level, object, fingerprint }: TreeRoot,
  load: LoadNode,
  options: WalkOptions = {},
  key?: Bytes,
): AsyncGenerator<readonly TreeEntry[]> {
  const { skips, onNode, onError } = options;
  if (skips?.(object)) return;
  let node: TreeNode;
  try {
    node = await load(object, level);
  } catch (error) {
    if (onError === undefined) throw error;
    return onError(error, key);
  }
  onNode?.(object, fingerprint);
  if (level === 0) return yield node.entries;
  const isWanted = (entry: TreeEntry) => !skips?.(entry.object);
  const ahead = new Map<string, Promise<TreeNode>>();
  const wanted = node.entries.filter(isWanted);
  const fetchAhead = ({ object }: TreeEntry) => {
    const loading = load(object, level - 1);
    loading.catch(() => {});
    ahead.set(object.name, loading);
  };
  for (const [i, entry] of wanted.entries()) {
    for (const next of wanted.slice(i, i + READ_AHEAD)) {
      if (!ahead.has(next.object.name)) fetchAhead(next);
    }
    const root = { level: level - 1, object: entry.object, fingerprint: entry.fingerprint };
    const loadNext: LoadNode = (one, at) =>
      one === entry.object ? ahead.get(one.name) ?? load(one, at) : load(one, at);
    yield* walkTree(root, loadNext, options, entry.key);
    ahead.delete(entry.object.name);
  }
}

/**
 * Yields the groups from the one on that a key is in, if it is in any.
 *
 * @param onError Receives why a node cannot be read; throws, or leaves out what is below it.
 */
export async function* walkFrom(
  { level, object }: Pick<TreeRoot, "level" | "object">,
  key: Bytes,
  load: LoadNode,
  onError?: (error: unknown) => Promise<void>,
): AsyncGenerator<TreeEntry> {
  let node: TreeNode;
  try {
    node = await load(object, level);
  } catch (error) {
    if (onError === undefined) throw error;
    return await onError(error);
  }
  const { entries } = node;
  const first = entries.findLastIndex((entry) => compareBytes(entry.key, key) <= 0);
  for (const entry of entries.slice(Math.max(0, first))) {
    if (level === 0) yield entry;
    else yield* walkFrom({ level: level - 1, object: entry.object }, key, load, onError);
  }
}

export function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const length = Math.min(one.byteLength, other.byteLength);
  for (let i = 0; i < length; i++) {
    const difference = (one[i] ?? 0) - (other[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return one.byteLength - other.byteLength;
}

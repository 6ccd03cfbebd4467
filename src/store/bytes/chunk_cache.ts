import { MINUTE } from "../../rules/units.ts";
import type { CacheMemory } from "../engine/memory_budget.ts";

type Piece = Uint8Array<ArrayBuffer>;

/** Versions that are remembered after their first download, and versions with chunks in the cache. */
const MAX_VERSIONS = 1000;

/** A version may be displaced after this time without a download, in milliseconds. */
export const DISPLACED_AFTER = MINUTE;

/** A version may take this share of the cache, so that a few versions fit. */
const VERSION_SHARE = 1 / 2;

export interface CachedChunks {
  get(index: number): Piece | undefined;
  /** Keeps a chunk, which has been compared with its checksum. It must not be changed or released afterwards. */
  keep(index: number, chunk: Piece): void;
}

interface KeptVersion extends CachedChunks {
  /** By index. */
  readonly chunks: Map<number, Piece>;
  bytes: number;
  /** When the last download began, in milliseconds of the monotonic clock. */
  openedAt: number;
  /** Whether the version has not been displaced. */
  isKept: boolean;
}

/**
 * Cache of the chunks of files that are downloaded repeatedly. The bytes of a version never change, so entries are
 * never stale: whether a file still has a version is decided by its record, which is not in this cache.
 *
 * Chunks are kept from the second download of a version on, as long as there is room. Only versions that were not
 * downloaded for a minute make room for others: downloads of more files than fit would otherwise displace each other
 * before any chunk is used again.
 */
export class ChunkCache {
  /** From the least to the most recently downloaded. */
  readonly #versions = new Map<string, KeptVersion>();
  /** Versions that were downloaded once, the earliest first. */
  readonly #remembered = new Set<string>();
  /** The buffers that this cache has, or had while they were being sent. */
  readonly #shared = new WeakSet<ArrayBuffer>();

  /** @param memory Memory of this cache. */
  constructor(private readonly memory: CacheMemory) {}

  /**
   * Begins a download. Returns the chunks of its version; `undefined` if they are not kept.
   *
   * @param size Bytes of the version.
   */
  open(version: string, size: number): CachedChunks | undefined {
    if (size > this.memory.limit * VERSION_SHARE) return undefined;
    const known = this.#versions.get(version);
    if (known === undefined && !this.#remembered.delete(version)) {
      this.#remember(version);
      return undefined;
    }
    if (known === undefined && !this.#makeRoom(0)) return undefined;
    const kept = known ?? this.#newVersion();
    kept.openedAt = performance.now();
    this.#versions.delete(version);
    this.#versions.set(version, kept);
    return kept;
  }

  /** Returns whether other downloads may use the memory of a piece. */
  isShared({ buffer }: Piece): boolean {
    return this.#shared.has(buffer);
  }

  #remember(version: string): void {
    this.#remembered.add(version);
    const [first = version] = this.#remembered;
    if (this.#remembered.size > MAX_VERSIONS) this.#remembered.delete(first);
  }

  #newVersion(): KeptVersion {
    const chunks = new Map<number, Piece>();
    const version: KeptVersion = {
      chunks,
      bytes: 0,
      openedAt: 0,
      isKept: true,
      get: (index) => chunks.get(index),
      keep: (index, chunk) => this.#keep(version, index, chunk),
    };
    return version;
  }

  #keep(version: KeptVersion, index: number, chunk: Piece): void {
    const bytes = chunk.buffer.byteLength;
    if (version.chunks.has(index) || !this.#makeRoom(bytes) || !version.isKept) return;
    version.chunks.set(index, chunk);
    version.bytes += bytes;
    this.memory.used += bytes;
    this.#shared.add(chunk.buffer);
  }

  /** Returns whether there is room for this many bytes, after displacing versions that may be. */
  #makeRoom(bytes: number): boolean {
    const displaced = performance.now() - DISPLACED_AFTER;
    for (const [id, version] of this.#versions) {
      if (this.#hasRoom(bytes) || version.openedAt > displaced) break;
      this.#versions.delete(id);
      this.memory.used -= version.bytes;
      version.isKept = false;
      version.chunks.clear();
    }
    return this.#hasRoom(bytes);
  }

  #hasRoom(bytes: number): boolean {
    return this.memory.used + bytes <= this.memory.limit && this.#versions.size <= MAX_VERSIONS;
  }
}

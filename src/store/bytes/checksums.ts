import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { StoreDamaged } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import type { EntryReader } from "../reads/read_queue.ts";
import { CHUNK_SIZE, type FileRecord, fileText, type Place } from "../engine/records.ts";
import { chunkCount } from "./chunks.ts";

/** Chunks whose checksums share one entry: 16 KiB of checksums for 256 MiB of bytes. */
export const CHECKSUMS_PER_PAGE = 4096;

/** Size of a CRC-32. */
const CHECKSUM_BYTES = 4;

/** Size of the SHA-256 that follows the checksums of the last page. */
const DIGEST_BYTES = 32;

type Bytes = Uint8Array<ArrayBuffer>;

export interface ChecksumPage {
  number: number;
  value: Bytes;
}

/** Returns how many pages hold the checksums of this many chunks. */
export function checksumPages(chunks: number): number {
  return Math.ceil(chunks / CHECKSUMS_PER_PAGE);
}

/** Returns the size of a page of a version with this many chunks. */
function pageLength(number: number, chunks: number): number {
  const left = chunks - number * CHECKSUMS_PER_PAGE;
  return left > CHECKSUMS_PER_PAGE
    ? CHECKSUMS_PER_PAGE * CHECKSUM_BYTES
    : left * CHECKSUM_BYTES + DIGEST_BYTES;
}

/** Returns how many chunks a version has whose last page this is: at least so many if it is another one. */
export function chunksUpTo(number: number, length: number): number {
  return number * CHECKSUMS_PER_PAGE + Math.max(0, length - DIGEST_BYTES) / CHECKSUM_BYTES;
}

/**
 * Collects the checksums of a version's chunks in their order. A page has four bytes for each chunk, its CRC-32 in
 * little-endian order; the last page ends with the SHA-256 of all bytes of the version.
 */
export class ChecksumWriter {
  #page = newPage();
  #count = 0;
  #number = 0;

  /** Adds the next chunk. Returns the previous page once that is full. */
  add(chunk: Uint8Array): ChecksumPage | undefined {
    const full = this.#count === CHECKSUMS_PER_PAGE ? this.#take() : undefined;
    this.#page.setUint32(this.#count++ * CHECKSUM_BYTES, crc32(chunk), true);
    return full;
  }

  /**
   * Returns the last page; `undefined` for a version without chunks.
   *
   * @param sha256 Of all bytes, in base64.
   */
  finish(sha256: string): ChecksumPage | undefined {
    if (this.#count === 0) return undefined;
    const { number, value } = this.#take();
    return { number, value: new Uint8Array([...value, ...Buffer.from(sha256, "base64")]) };
  }

  #take(): ChecksumPage {
    const value = new Uint8Array(this.#page.buffer, 0, this.#count * CHECKSUM_BYTES).slice();
    this.#page = newPage();
    this.#count = 0;
    return { number: this.#number++, value };
  }
}

function newPage(): DataView<ArrayBuffer> {
  return new DataView(new ArrayBuffer(CHECKSUMS_PER_PAGE * CHECKSUM_BYTES));
}

export function checksumAt(page: Bytes, index: number): number {
  const view = new DataView(page.buffer, page.byteOffset);
  return view.getUint32(index % CHECKSUMS_PER_PAGE * CHECKSUM_BYTES, true);
}

/** Returns whether a chunk has the checksum in a page. */
export function matches(page: Bytes, index: number, chunk: Uint8Array): boolean {
  return checksumAt(page, index) === crc32(chunk);
}

/** Returns whether a value has the form of that page of a version with this many chunks. */
export function isPage(value: unknown, number: number, chunks: number): value is Bytes {
  return value instanceof Uint8Array && value.byteLength === pageLength(number, chunks);
}

/** A page that is being read, or has been. */
interface CachedPage {
  number: number;
  value: Promise<Bytes>;
  /** Set once the page has been read. */
  loaded?: Bytes;
}

/** Reads the checksums of one version for a download or an archive. It keeps the last page. */
export class ChecksumReader {
  readonly #chunks: number;
  #page: CachedPage | undefined;

  /** @param size Bytes of the version. */
  constructor(
    private readonly reads: EntryReader,
    private readonly place: Place,
    private readonly version: string,
    size: number,
  ) {
    this.#chunks = chunkCount(size);
  }

  /**
   * Returns the page with the checksum of a chunk.
   *
   * @throws {StoreDamaged} if it is missing or has the wrong length.
   */
  pageOf(index: number): Promise<Bytes> {
    const number = Math.floor(index / CHECKSUMS_PER_PAGE);
    if (this.#page?.number === number) return this.#page.value;
    const page: CachedPage = { number, value: this.#read(number) };
    // A download that fails for another reason never awaits the page.
    page.value.then((loaded) => page.loaded = loaded, () => {});
    this.#page = page;
    return page.value;
  }

  /** Returns the page with the checksum of a chunk if it is loaded. */
  loadedPageOf(index: number): Bytes | undefined {
    const number = Math.floor(index / CHECKSUMS_PER_PAGE);
    return this.#page?.number === number ? this.#page.loaded : undefined;
  }

  /** Returns whether the page with the checksum of a chunk is loaded. */
  hasPageOf(index: number): boolean {
    return this.loadedPageOf(index) !== undefined;
  }

  /** Returns whether a chunk has its checksum, whose page is loaded. */
  matches(index: number, chunk: Uint8Array): boolean {
    const page = this.#page?.loaded;
    return page !== undefined && matches(page, index, chunk);
  }

  async #read(number: number): Promise<Bytes> {
    const [{ value }] = await this.reads.get<[Bytes]>([keys.checksums(this.version, number)]);
    if (isPage(value, number, this.#chunks)) return value;
    const problem =
      `page ${number} of the checksums of version ${this.version} is missing or incomplete`;
    throw new StoreDamaged(fileText(this.place), problem);
  }
}

/** Returns the SHA-256 of bytes, in base64. */
export function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

/** The problem of bytes with the wrong digest, as the end of a sentence. */
export const OTHER_BYTES = "its bytes are not those that were stored: their SHA-256 differs";

/**
 * Returns the problem of the content of a file that is stored in one value, as the end of a sentence; `undefined` if
 * there is none.
 */
export function contentProblem(
  { size, sha256 }: Pick<FileRecord, "size" | "sha256">,
  content: unknown,
): string | undefined {
  if (content === undefined || content === null) return "its content is missing";
  if (!(content instanceof Uint8Array)) return "its content is not binary";
  if (content.byteLength !== size) {
    return `its content has ${content.byteLength} bytes instead of ${size}`;
  }
  return sha256 === undefined || sha256 === digest(content) ? undefined : OTHER_BYTES;
}

/** Returns the damage in a thumbnail, as the end of a sentence about its file; `undefined` if there is none. */
export function thumbnailProblem(
  thumbnail: Pick<FileRecord, "size" | "sha256">,
  content: unknown,
): string | undefined {
  const problem = contentProblem(thumbnail, content);
  return problem === undefined ? undefined : `of its thumbnail, ${problem}`;
}

/** What the bytes of a version must match. */
export interface Expected {
  /** Bytes of the version. */
  size: number;
  /** The pages of its checksums as they were read. */
  pages: readonly unknown[];
  /** Of all bytes, in base64, if a record has it. */
  sha256?: string | undefined;
}

/** Checks all chunks of one version in their order. Problems are returned as the end of a sentence. */
export class VersionCheck {
  readonly #count: number;
  readonly #hash = createHash("sha256");
  #next = 0;
  #sha256: string | undefined;

  constructor(private readonly expected: Expected) {
    this.#count = chunkCount(expected.size);
  }

  /** Returns the problem of the next chunk. */
  add(index: number, chunk: Uint8Array): string | undefined {
    const { size, pages } = this.expected;
    if (index !== this.#next) return this.#missing();
    const wanted = Math.min(CHUNK_SIZE, size - index * CHUNK_SIZE);
    const length = chunk.byteLength;
    if (length !== wanted) return `${this.#chunk(index)} has ${length} bytes instead of ${wanted}`;
    const number = Math.floor(index / CHECKSUMS_PER_PAGE);
    const page = pages[number];
    if (!isPage(page, number, this.#count)) {
      return `page ${number} of its checksums is missing or incomplete`;
    }
    if (!matches(page, index, chunk)) {
      return `${this.#chunk(index)} does not match its checksum`;
    }
    this.#hash.update(chunk);
    this.#next++;
    return undefined;
  }

  /** Returns the problem of the version after its last chunk. */
  end(): string | undefined {
    if (this.#next < this.#count) return this.#missing();
    const { sha256 } = this.expected;
    const digests = [sha256, this.#pageDigest()].filter((known) => known !== undefined);
    return digests.every((known) => known === this.sha256) ? undefined : OTHER_BYTES;
  }

  /** SHA-256 of all bytes, in base64, after the last chunk. */
  get sha256(): string {
    return this.#sha256 ??= this.#hash.digest("base64");
  }

  #pageDigest(): string | undefined {
    const last = this.expected.pages.at(-1);
    return last instanceof Uint8Array
      ? Buffer.from(last.subarray(-DIGEST_BYTES)).toString("base64")
      : undefined;
  }

  #chunk(index: number): string {
    return `chunk ${index} of ${this.#count}`;
  }

  #missing(): string {
    return `${this.#chunk(this.#next)} is missing`;
  }
}

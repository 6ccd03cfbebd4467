/**
 * Data objects: many groups in one object, and a footer that tells which.
 *
 * An object consists of its body and its footer, each sealed, and the length of the sealed footer in 4 bytes, the highest
 * first. The body has a byte, 1 if the rest is compressed with deflate, and the groups. The footer has the fingerprint and
 * the length of each group.
 *
 * @module
 */
import { concat } from "@std/bytes/concat";
import { constants, deflateRaw, inflateRaw } from "node:zlib";
import { promisify } from "node:util";
import { MIB } from "../rules/units.ts";
import { ByteReader, ByteWriter, release } from "./bytes.ts";
import { BadFormat } from "./errors.ts";
import { MAX_OBJECT } from "./targets/target.ts";
import type { Sealer } from "./seal.ts";
import type { Bytes } from "./bytes.ts";

/** Bytes of groups from which on an object is stored. A group more may be in it. */
export const DATA_SIZE = 2 * MIB;

/** Bytes of the last group and the footer, for which a writer has memory from the start: nearly no group is larger. */
export const SLACK = 5 / 8 * MIB;

/** Groups that an object may have: some 2,000 are the most that are written. */
export const MAX_GROUPS = 2 ** 16;

/** Bytes at the end of an object that hold the footer of nearly all. */
export const FOOTER_LIMIT = 64 * 1024;

const LENGTH_BYTES = 4;
const FINGERPRINT_LENGTH = 16;

const deflate = promisify(deflateRaw) as (bytes: Uint8Array, options: object) => Promise<Bytes>;
const inflate = promisify(inflateRaw) as (bytes: Uint8Array, options: object) => Promise<Bytes>;

/** The first byte of packed bytes. */
const PLAIN = 0;
const DEFLATED = 1;

const COMPRESSED = Uint8Array.of(DEFLATED);

/** A group in the footer of an object. */
export interface PackedGroup {
  fingerprint: Bytes;
  /** Bytes. */
  length: number;
}

/** An object that was read. */
export interface DataObject {
  isCompressed: boolean;
  /** In their order. */
  groups: (PackedGroup & { bytes: Bytes })[];
}

/** Returns the packed form of bytes that follow a 0: themselves, or a 1 and they in deflate if that is shorter. */
export async function pack(bytes: Bytes): Promise<Bytes> {
  const packed = await deflate(bytes.subarray(1), { level: constants.Z_BEST_SPEED });
  return packed.byteLength < bytes.byteLength - 1 ? concat([COMPRESSED, packed]) : bytes;
}

/** Returns the bytes that were packed. @throws {BadFormat} */
export async function unpack(packed: Bytes): Promise<Bytes> {
  const [kind] = packed;
  const rest = packed.subarray(1);
  if (kind === PLAIN) return rest;
  if (kind !== DEFLATED) throw new BadFormat("is compressed in an unknown way");
  try {
    const { buffer, byteOffset, byteLength } = await inflate(rest, {
      maxOutputLength: MAX_OBJECT,
    });
    return new Uint8Array(buffer, byteOffset, byteLength);
  } catch (error) {
    throw new BadFormat("cannot be decompressed", { cause: error });
  }
}

/** Groups that are collected for one object, and then for the next: it keeps its memory. */
export class DataWriter {
  #groups: PackedGroup[] = [];
  readonly #bytes = new ByteWriter(DATA_SIZE + SLACK);

  constructor(private readonly sealer: Sealer) {
    this.clear();
  }

  clear(): void {
    this.#groups = [];
    this.#bytes.truncate(0);
    this.#bytes.bytes(new Uint8Array(this.sealer.prefix));
    this.#bytes.byte(PLAIN);
  }

  /** Adds a group. @returns Its place. */
  add(fingerprint: Bytes, write: (writer: ByteWriter) => void): number {
    const before = this.#bytes.length;
    write(this.#bytes);
    this.#groups.push({ fingerprint, length: this.#bytes.length - before });
    return this.#groups.length - 1;
  }

  get isEmpty(): boolean {
    return this.#groups.length === 0;
  }

  get isFull(): boolean {
    return this.#bytes.length >= DATA_SIZE;
  }

  /** Returns the object. It is valid until `clear`. */
  async seal(isCompressed: boolean): Promise<Bytes> {
    const { prefix } = this.sealer;
    if (isCompressed) {
      const packed = await pack(this.#bytes.written.subarray(prefix));
      this.#bytes.truncate(prefix);
      this.#bytes.bytes(packed);
    }
    this.sealer.sealInPlace("data", this.#bytes);
    const footer = new ByteWriter(24 * this.#groups.length);
    for (const { fingerprint, length } of this.#groups) {
      footer.bytes(fingerprint);
      footer.number(length);
    }
    const sealed = this.sealer.seal("data", footer.written);
    const length = new Uint8Array(LENGTH_BYTES);
    new DataView(length.buffer).setUint32(0, sealed.byteLength);
    this.#bytes.bytes(sealed);
    this.#bytes.bytes(length);
    return this.#bytes.written;
  }
}

/** Returns the length of the footer of an object, with its own length. @param end The end of the object. */
export function footerLength(end: Bytes): number {
  if (end.byteLength < LENGTH_BYTES) throw new BadFormat("ends too early");
  const view = new DataView(end.buffer, end.byteOffset + end.byteLength - LENGTH_BYTES);
  return LENGTH_BYTES + view.getUint32(0);
}

/** Returns the groups that an object has. @param end The object, or as much of its end as has the footer. */
export function readFooter(end: Bytes, sealer: Sealer): PackedGroup[] {
  const start = end.byteLength - footerLength(end);
  if (start < 0) throw new BadFormat("ends too early");
  const reader = new ByteReader(sealer.open("data", end.subarray(start, -LENGTH_BYTES)));
  const groups: PackedGroup[] = [];
  while (!reader.isAtEnd) {
    if (groups.length === MAX_GROUPS) throw new BadFormat("has too many groups");
    groups.push({ fingerprint: reader.bytes(FINGERPRINT_LENGTH), length: reader.number() });
  }
  return groups;
}

/** Passes the groups of an object on, in their order, and then releases their memory. @throws {BadFormat} */
export async function useGroups(
  object: Bytes,
  sealer: Sealer,
  use: (groups: readonly Bytes[]) => void,
): Promise<void> {
  await useObject(object, sealer, ({ groups }) => use(groups.map(({ bytes }) => bytes)));
}

/** Passes on what an object has, and then releases its memory. @throws {BadFormat} */
export async function useObject(
  object: Bytes,
  sealer: Sealer,
  use: (content: DataObject) => void | Promise<void>,
): Promise<void> {
  const content = await readObject(object, sealer);
  await use(content);
  release(object);
  const body = content.groups[0]?.bytes.buffer;
  if (body !== undefined && !body.detached) body.transfer(0);
}

/** Returns the groups of an object in their order. @throws {BadFormat} */
export async function readGroups(object: Bytes, sealer: Sealer): Promise<Bytes[]> {
  return (await readObject(object, sealer)).groups.map(({ bytes }) => bytes);
}

/** Returns what an object has. @throws {BadFormat} */
async function readObject(object: Bytes, sealer: Sealer): Promise<DataObject> {
  const footer = readFooter(object, sealer);
  const packed = sealer.open("data", object.subarray(0, -footerLength(object)));
  const body = new ByteReader(await unpack(packed));
  const groups = footer.map((group) => ({ ...group, bytes: body.bytes(group.length) }));
  if (!body.isAtEnd) throw new BadFormat("has bytes of no group");
  return { isCompressed: packed[0] === DEFLATED, groups };
}

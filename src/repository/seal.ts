/**
 * Encryption of objects: AES-256-GCM, or none.
 *
 * GCM is broken by two messages under one key and one nonce. So no key is used twice: each object has 256 random bits, and
 * HKDF derives its key from them and the master key. The nonce can therefore be zero. Two objects with the same random
 * bits are as improbable as guessing a key; random nonces of 96 bits under one key would be at their limit after 2^32
 * objects. The kind of the object is authenticated as well, so that none can be put in the place of another kind.
 *
 * @module
 */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { ByteWriter, release } from "./bytes.ts";
import { BadFormat } from "./errors.ts";
import type { Bytes } from "./bytes.ts";

/** What an object is. */
export type ObjectKind = "data" | "index" | "snapshot";

export interface Sealer {
  /** Bytes by which sealed bytes are longer, and how many of them come first. */
  readonly overhead: number;
  readonly prefix: number;
  /** Seals what was written after so many bytes as the prefix has, without a copy. */
  sealInPlace(kind: ObjectKind, writer: ByteWriter): void;
  seal(kind: ObjectKind, bytes: Bytes): Bytes;
  /** @throws {BadFormat} if the bytes are not those of an object of this kind, sealed with this key. */
  open(kind: ObjectKind, sealed: Bytes): Bytes;
}

/** Leaves objects as they are. */
export const UNENCRYPTED: Sealer = {
  overhead: 0,
  prefix: 0,
  sealInPlace: () => {},
  seal: (_, bytes) => bytes,
  open: (_, sealed) => sealed,
};

/** Bytes of the master key, of the random bits of an object, and of the tag of GCM. */
export const MASTER_KEY_LENGTH = 32;
const SALT_LENGTH = 32;
const TAG_LENGTH = 16;

const ALGORITHM = "aes-256-gcm";

/** Bytes that are encrypted at once. */
const PIECE = 256 * 1024;

const ZERO_NONCE = new Uint8Array(12);

const encoder = new TextEncoder();

/** Encrypts objects with a master key. The functions of `node:crypto` copy no bytes, unlike those of the web. */
export function encryption(masterKey: Bytes): Sealer {
  const keyOf = (salt: Uint8Array) =>
    new Uint8Array(hkdfSync("sha256", masterKey, salt, "kvdrive object", 32));
  const sealInPlace = (kind: ObjectKind, writer: ByteWriter) => {
    const { written } = writer;
    crypto.getRandomValues(written.subarray(0, SALT_LENGTH));
    const cipher = createCipheriv(ALGORITHM, keyOf(written.subarray(0, SALT_LENGTH)), ZERO_NONCE);
    cipher.setAAD(encoder.encode(kind));
    for (let at = SALT_LENGTH; at < written.byteLength; at += PIECE) {
      const piece = cipher.update(written.subarray(at, at + PIECE));
      written.set(piece, at);
      release(piece);
    }
    cipher.final();
    writer.bytes(cipher.getAuthTag());
  };
  return {
    overhead: SALT_LENGTH + TAG_LENGTH,
    prefix: SALT_LENGTH,
    sealInPlace,
    seal(kind, bytes) {
      const writer = new ByteWriter(SALT_LENGTH + bytes.byteLength + TAG_LENGTH);
      writer.bytes(new Uint8Array(SALT_LENGTH));
      writer.bytes(bytes);
      sealInPlace(kind, writer);
      return writer.written;
    },
    open(kind, sealed) {
      const end = sealed.byteLength - TAG_LENGTH;
      if (end < SALT_LENGTH) throw new BadFormat("ends too early");
      const decipher = createDecipheriv(
        ALGORITHM,
        keyOf(sealed.subarray(0, SALT_LENGTH)),
        ZERO_NONCE,
      );
      decipher.setAAD(encoder.encode(kind));
      decipher.setAuthTag(sealed.subarray(end));
      const bytes = new Uint8Array(end - SALT_LENGTH);
      for (let from = 0; from < bytes.byteLength; from += PIECE) {
        const piece = sealed.subarray(
          SALT_LENGTH + from,
          Math.min(end, SALT_LENGTH + from + PIECE),
        );
        const opened = decipher.update(piece);
        bytes.set(opened, from);
        release(opened);
      }
      try {
        decipher.final();
      } catch (error) {
        throw new BadFormat("cannot be decrypted", { cause: error });
      }
      return bytes;
    },
  };
}

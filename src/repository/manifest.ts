/**
 * The manifest of a snapshot: the object that is stored last, so that the snapshot exists once it does.
 *
 * @module
 */
import { decodeHex, encodeHex } from "@std/encoding/hex";
import { BadFormat } from "./errors.ts";
import type { Bytes } from "./bytes.ts";
import { countIn, objectIn, parseObject, textIn } from "./json.ts";
import { MAX_LEVEL, type ObjectRef, type TreeRoot } from "./tree.ts";

/** What a snapshot says about the store. */
export interface SnapshotInfo {
  /** When it was taken, in milliseconds since 1970. */
  time: number;
  /** The id of the store, and the number of its format. */
  store: string;
  format: number;
  /** The files that callers see, and their bytes. */
  files: number;
  bytes: number;
  /** The bytes of the store's files on its disk. */
  size: number;
  /** The numbers of the last commits to the store's two files. */
  commits: { records: number; bytes: number };
}

export interface Manifest extends SnapshotInfo {
  /** 16 hexadecimal digits. */
  id: string;
  /** One more than the greatest that its maker found, so that the order of snapshots does not depend on clocks. */
  sequence: number;
  /** How often its objects were rewritten: of several manifests with one id, the one with the greatest is valid. */
  revision: number;
  /** The bytes that were sent for it. */
  added: number;
  /** Places of the store that were damaged when it was taken: tree keys in hexadecimal. */
  damaged: string[];
  /** Of an empty store, which cannot be, there is none. */
  root: TreeRoot;
}

/** A manifest, and the object that it is in. */
export interface Snapshot extends Manifest {
  object: string;
}

const VERSION = 1;

const encoder = new TextEncoder();

export function newSnapshotId(): string {
  return encodeHex(crypto.getRandomValues(new Uint8Array(8)));
}

export function encodeManifest({ root, ...manifest }: Manifest): Bytes {
  const { level, object, fingerprint } = root;
  const json = {
    version: VERSION,
    ...manifest,
    root: { level, fingerprint: encodeHex(fingerprint), ...object },
  };
  return encoder.encode(JSON.stringify(json));
}

/** @throws {BadFormat} */
export function decodeManifest(bytes: Bytes): Manifest {
  const json = parseObject(bytes);
  if (json["version"] !== VERSION) {
    throw new BadFormat(
      `has version ${
        json["version"]
      }, and this version of kvdrive reads ${VERSION}: use a newer one`,
    );
  }
  const root = objectIn(json["root"]);
  const commits = objectIn(json["commits"]);
  const level = countIn(root["level"]);
  if (level > MAX_LEVEL) throw new BadFormat("has a tree of too many levels");
  const object: ObjectRef = {
    name: textIn(root["name"], /^[0-9a-f]{64}$/),
    size: countIn(root["size"]),
  };
  return {
    id: textIn(json["id"], /^[0-9a-f]{16}$/),
    // Manifests of earlier versions have none.
    sequence: countIn(json["sequence"] ?? 0),
    revision: countIn(json["revision"] ?? 0),
    time: timeIn(json["time"]),
    store: textIn(json["store"], /^[0-9a-f-]{1,64}$/),
    format: countIn(json["format"]),
    files: countIn(json["files"]),
    bytes: countIn(json["bytes"]),
    size: countIn(json["size"]),
    added: countIn(json["added"]),
    damaged: Array.isArray(json["damaged"])
      ? json["damaged"].map((key) => textIn(key, /^[0-9a-f]+$/))
      : [],
    commits: { records: countIn(commits["records"]), bytes: countIn(commits["bytes"]) },
    root: {
      level,
      object,
      fingerprint: new Uint8Array(decodeHex(textIn(root["fingerprint"], /^[0-9a-f]{32}$/))),
    },
  };
}

/** The greatest time that a date can have, in milliseconds since 1970. */
const MAX_TIME = 8.64e15;

function timeIn(value: unknown): number {
  const time = countIn(value);
  if (time <= MAX_TIME) return time;
  throw new BadFormat("lacks a time");
}

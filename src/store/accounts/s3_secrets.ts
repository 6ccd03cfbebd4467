/**
 * The encryption of the secrets of S3 keys. A signature is checked with the secret itself, so the store cannot keep only
 * a hash. The key of the encryption is kept outside the store: a copy of the store alone reveals no secret.
 *
 * @module
 */
import { decodeBase64, encodeBase64 } from "@std/encoding/base64";
import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { failureReason } from "../../rules/system_error.ts";
import { StoreFull } from "../disk/disk_space.ts";
import {
  isOutOfSpace,
  makePrivate,
  syncFile,
  syncFolder,
  TemporaryFile,
} from "../disk/durable_file.ts";
import { S3KeysUnavailable } from "../engine/errors.ts";
import type { SealedSecret } from "../engine/records.ts";

/** Name of the key file in the data folder. */
export const S3_KEY_FILE = "s3.key";

/** Bytes of the key: AES-256. */
const KEY_BYTES = 32;

/** Bytes of the initialisation vector, which is random: the size that GCM is made for (NIST SP 800-38D, 5.2.1.1). */
const IV_BYTES = 12;

/** A text that holds a key: 32 bytes in base64. */
const KEY_TEXT = /^[A-Za-z0-9+/]{43}=$/;

/** Whether a file can be opened by its group or by others. */
const SHARED_MODE = 0o077;

/** Where the key of the encryption comes from. Both throw `S3KeysUnavailable`, whose message says why there is none. */
export interface S3SecretKey {
  /** Names the place of the key in messages. It is no path, because callers see these messages as well. */
  readonly name: string;
  read(): Promise<Uint8Array<ArrayBuffer>>;
  readOrCreate(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Parses a key, of 32 bytes in base64; `undefined` for any other text. Blanks around it are ignored. */
export function parseS3SecretKey(text: string): Uint8Array<ArrayBuffer> | undefined {
  const trimmed = text.trim();
  return KEY_TEXT.test(trimmed) ? decodeBase64(trimmed) : undefined;
}

/** A key that the operator has given. */
export function givenS3SecretKey(bytes: Uint8Array<ArrayBuffer>): S3SecretKey {
  const read = () => Promise.resolve(bytes);
  return { name: "the variable KVDRIVE_S3_SECRET", read, readOrCreate: read };
}

/** The source of a server without a place for a key. */
export const NO_S3_SECRET_KEY: S3SecretKey = {
  name: "nothing",
  read: refuse,
  readOrCreate: refuse,
};

function refuse(): Promise<never> {
  return Promise.reject(
    new S3KeysUnavailable(
      "This server has no secret to encrypt S3 keys with: its operator must set --s3-secret-file or KVDRIVE_S3_SECRET",
    ),
  );
}

/** A key in a file: the operator's, or one in the data folder that is created with the first S3 key. */
export class S3KeyFile implements S3SecretKey {
  readonly name: string;

  private constructor(
    private readonly path: string,
    name: string,
    private readonly isOurs: boolean,
  ) {
    this.name = name;
  }

  /** The file in a data folder. */
  static inFolder(folder: string): S3KeyFile {
    const name = `the file ${S3_KEY_FILE} in the server's data folder`;
    return new S3KeyFile(join(folder, S3_KEY_FILE), name, true);
  }

  /** The file that the operator has given, which is never created or changed. */
  static given(path: string): S3KeyFile {
    return new S3KeyFile(path, "the file of --s3-secret-file", false);
  }

  /**
   * Returns what the operator should know about the file, as sentences without the period of the last one. A file in the
   * data folder is made private.
   */
  async warnings(): Promise<string[]> {
    const warnings = [await this.#openWarning(), await this.#damage()];
    return warnings.filter((warning) => warning !== undefined);
  }

  async #openWarning(): Promise<string | undefined> {
    const mode = await modeOf(this.path);
    if ((mode & SHARED_MODE) === 0) return undefined;
    const isPrivate = this.isOurs && (await makePrivate([this.path])).length === 0;
    return `The file ${this.path} encrypts S3 keys and is open to other users of this machine (mode ${
      mode.toString(8)
    }). ${isPrivate ? "It is private now" : `Close it with chmod 600 ${this.path}`}. ` +
      "If others may have read it and the store, revoke the S3 keys and create new ones";
  }

  async #damage(): Promise<string | undefined> {
    try {
      await this.#find();
      return undefined;
    } catch (error) {
      if (error instanceof S3KeysUnavailable) return error.message;
      throw error;
    }
  }

  async read(): Promise<Uint8Array<ArrayBuffer>> {
    const key = await this.#find();
    if (key !== undefined) return key;
    const advice = this.isOurs ? ". Put it back, or create new S3 keys" : "";
    throw unavailable(`${this.name} does not exist${advice}`);
  }

  /** @throws {StoreFull} if the disk is full. */
  async readOrCreate(): Promise<Uint8Array<ArrayBuffer>> {
    try {
      if (!this.isOurs) return await this.read();
      const key = await this.#find() ?? await this.#create();
      // Also if another process has created the file: it must be on disk before the first secret that needs it.
      await syncFolder(dirname(this.path));
      return key;
    } catch (error) {
      if (error instanceof S3KeysUnavailable) throw error;
      if (isOutOfSpace(error)) throw new StoreFull("The disk is full", { cause: error });
      throw unavailable(`${this.name} cannot be created: ${failureReason(error)}`, error);
    }
  }

  /** @throws {S3KeysUnavailable} if there is a file without a key, which is never replaced. */
  async #find(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    let text: string;
    try {
      text = await Deno.readTextFile(this.path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw unavailable(`${this.name} cannot be read: ${failureReason(error)}`, error);
    }
    const key = parseS3SecretKey(text);
    if (key !== undefined) return key;
    throw unavailable(
      `${this.name} is damaged: it must have ${KEY_BYTES} bytes in base64`,
    );
  }

  /** Creates the file, unless another process has just done so: no key must ever replace another. */
  async #create(): Promise<Uint8Array<ArrayBuffer>> {
    using file = await TemporaryFile.create(this.path);
    const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
    await Deno.writeTextFile(file.path, `${encodeBase64(key)}\n`);
    await syncFile(file.path);
    try {
      await file.rename(this.path, { replaces: false });
      return key;
    } catch (error) {
      const existing = error instanceof Deno.errors.AlreadyExists && await this.#find();
      if (existing) return existing;
      throw error;
    }
  }
}

function unavailable(problem: string, cause?: unknown): S3KeysUnavailable {
  return new S3KeysUnavailable(`S3 keys cannot be used: ${problem}`, { cause });
}

function isMissing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

/** Returns the permissions of a file; 0 if they are not known. */
async function modeOf(path: string): Promise<number> {
  if (Deno.build.os === "windows") return 0;
  // Reading the file reports what is wrong.
  return await Deno.stat(path).then(({ mode }) => (mode ?? 0) & 0o777, () => 0);
}

/** What a secret belongs to. It is authenticated with the secret, so that no record opens under another key. */
export interface SecretOwner {
  accessKeyId: string;
  project: string;
}

/** Encrypts and decrypts the secrets of S3 keys. */
export class S3SecretBox {
  /** The key that decrypted the last secret. */
  #key: CryptoKey | undefined;

  constructor(private readonly source: S3SecretKey) {}

  /** Encrypts a secret. @throws {S3KeysUnavailable} if there is no key for it. */
  async seal(secret: string, owner: SecretOwner): Promise<SealedSecret> {
    // Read each time: a key that is lost with this process would make the secret unreadable.
    const key = await importKey(await this.source.readOrCreate());
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const text = await crypto.subtle.encrypt(
      cipherOf(iv, owner),
      key,
      new TextEncoder().encode(secret),
    );
    return { iv: encodeBase64(iv), text: encodeBase64(text) };
  }

  /** Decrypts a secret. @throws {S3KeysUnavailable} if there is no key for it, or it was encrypted with another. */
  async open(sealed: SealedSecret, owner: SecretOwner): Promise<string> {
    const known = this.#key && await decrypt(this.#key, sealed, owner);
    if (known !== undefined) return known;
    // The key may have been created or restored since.
    const key = await importKey(await this.source.read());
    const secret = await decrypt(key, sealed, owner);
    if (secret === undefined) {
      throw unavailable(
        "their secrets were encrypted with another secret than the server's. Give the server the right one",
      );
    }
    this.#key = key;
    return secret;
  }
}

async function importKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}

function cipherOf(
  iv: Uint8Array<ArrayBuffer>,
  { accessKeyId, project }: SecretOwner,
): AesGcmParams {
  const additionalData = new TextEncoder().encode(JSON.stringify([accessKeyId, project]));
  return { name: "AES-GCM", iv, additionalData };
}

/** Returns `undefined` if it was encrypted with another key or for another owner, or is damaged. */
async function decrypt(
  key: CryptoKey,
  sealed: SealedSecret,
  owner: SecretOwner,
): Promise<string | undefined> {
  try {
    const iv = decodeBase64(sealed.iv);
    const text = decodeBase64(sealed.text);
    return new TextDecoder().decode(await crypto.subtle.decrypt(cipherOf(iv, owner), key, text));
  } catch {
    return undefined;
  }
}

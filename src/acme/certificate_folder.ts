import {
  makePrivate,
  PRIVATE_FOLDER_MODE,
  PRIVATE_MODE,
  writePrivately,
} from "../store/disk/durable_file.ts";
import { tryLock } from "../store/disk/file_lock.ts";
import { CERTIFICATE_FOLDER } from "../store/disk/kept_files.ts";
import { hashSecret } from "../rules/secrets.ts";
import { certificateText, parseCertificate, type StoredCertificate } from "./stored_certificate.ts";

const ACCOUNT = "account.json";
const PAUSES = "pauses.json";
const LOCK = "lock";
const ENDING = ".pem";

/** The longest host name that is a file's name as it is. File systems allow 255 bytes. */
const MAX_FILE_HOST = 200;

export interface Account {
  directory: string;
  /** The private key, in PEM. */
  key: string;
  /** Its address; `undefined` until the authority has confirmed it. */
  url?: string | undefined;
  email?: string | undefined;
}

/** Until when no attempt is made for a host name, in milliseconds since 1970. */
export type Pauses = Record<string, number>;

/** The files of certificates and of the account at the authority. All are private to their owner. */
export class CertificateFolder {
  readonly #path: string;

  /** @param data The data folder. */
  constructor(data: string) {
    this.#path = `${data}/${CERTIFICATE_FOLDER}`;
  }

  get path(): string {
    return this.#path;
  }

  /** Creates the folder if needed, and makes its files private. */
  async prepare(): Promise<void> {
    await this.#create();
    if (Deno.build.os !== "windows") {
      await Deno.chmod(this.#path, PRIVATE_FOLDER_MODE).catch(() => {});
    }
    const names = (await Array.fromAsync(Deno.readDir(this.#path))).map(({ name }) => name);
    await makePrivate(names.map((name) => `${this.#path}/${name}`));
  }

  /** Returns all certificates that can be used, and the names of the files that are damaged. */
  async load(): Promise<{ certificates: StoredCertificate[]; damaged: string[] }> {
    const certificates: StoredCertificate[] = [];
    const damaged: string[] = [];
    for await (const { name, isFile } of Deno.readDir(this.#path)) {
      if (!isFile || !name.endsWith(ENDING)) continue;
      const found = await parseCertificate(await this.#read(name) ?? "");
      if (found === undefined || fileName(found.name) !== name) damaged.push(name);
      else certificates.push(found);
    }
    return { certificates, damaged };
  }

  /** Returns the certificate of a name; `undefined` if there is none that can be used. */
  async find(host: string): Promise<StoredCertificate | undefined> {
    const found = await parseCertificate(await this.#read(fileName(host)) ?? "");
    return found?.name === host ? found : undefined;
  }

  async save(certificate: StoredCertificate): Promise<void> {
    await this.#write(fileName(certificate.name), certificateText(certificate));
  }

  async remove(host: string): Promise<void> {
    await Deno.remove(`${this.#path}/${fileName(host)}`).catch(() => {});
  }

  /** Changes when another process stores a certificate. Creates the folder if it was removed. */
  async revision(): Promise<number> {
    await this.#create();
    return (await Deno.stat(this.#path)).mtime?.getTime() ?? 0;
  }

  /** Returns the account; `undefined` if there is none that can be used. */
  async account(): Promise<Account | undefined> {
    const account = parseJson(await this.#read(ACCOUNT)) as Partial<Account> | undefined;
    const { directory, key, url, email } = account ?? {};
    const isUsable = typeof directory === "string" && typeof key === "string" &&
      ["string", "undefined"].includes(typeof url) &&
      ["string", "undefined"].includes(typeof email);
    return isUsable ? { directory, key, url, email } : undefined;
  }

  async saveAccount(account: Account): Promise<void> {
    await this.#write(ACCOUNT, `${JSON.stringify(account, null, 2)}\n`);
  }

  async pauses(): Promise<Pauses> {
    const found = parseJson(await this.#read(PAUSES));
    if (typeof found !== "object" || found === null) return {};
    return Object.fromEntries(
      Object.entries(found).filter(([, until]) => typeof until === "number"),
    );
  }

  async savePauses(pauses: Pauses): Promise<void> {
    await this.#write(PAUSES, `${JSON.stringify(pauses, null, 2)}\n`);
  }

  /**
   * Excludes other processes until it is disposed of, or until the process ends.
   *
   * @returns `undefined` if another process holds the lock.
   */
  async lock(): Promise<Disposable | undefined> {
    const options = { create: true, read: true, write: true, mode: PRIVATE_MODE };
    const file = await Deno.open(`${this.#path}/${LOCK}`, options);
    if (await tryLock(file, "exclusive")) return file;
    file.close();
    return undefined;
  }

  async #create(): Promise<void> {
    await Deno.mkdir(this.#path, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  }

  async #read(name: string): Promise<string | undefined> {
    try {
      return await Deno.readTextFile(`${this.#path}/${name}`);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }

  /** Replaces a file in one step, which survives a power loss. */
  async #write(name: string, text: string): Promise<void> {
    await this.#create();
    await writePrivately(`${this.#path}/${name}`, new TextEncoder().encode(text));
  }
}

/** Host names are valid in names of files: they have no slash, and none begins with a dot. */
function fileName(host: string): string {
  return (host.length <= MAX_FILE_HOST ? host : hashSecret(host)) + ENDING;
}

/** Returns the value of JSON; `undefined` for text that is damaged or missing. */
function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

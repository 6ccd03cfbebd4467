import type {
  DriveInfo,
  Drives,
  FileAttributes,
  FileContent,
  FileInfo,
  Part,
  WriteOptions,
} from "../../../client/drives.ts";
import { ClientError, FileChanged, FileExists, TemporaryFailure } from "../../../client/errors.ts";
import { Retrier } from "../../../client/retrier.ts";
import { MAX_LIST } from "../../../rules/names.ts";
import type { PartSize } from "../../../rules/payloads.ts";
import { StoreDamaged, StoreUnavailable, UploadRefused } from "../../../store/engine/errors.ts";
import type { FileRecord, Place } from "../../../store/engine/records.ts";
import type { WriteCondition } from "../../../store/files/file_record.ts";
import type { PageQuery } from "../../../store/listing/listing.ts";
import type { OpenFile } from "../../../store/files/open_file.ts";
import type { Store } from "../../../store/store.ts";

/** The drives of a project in a store on this machine, next to a server that may use it. */
export class StoreDrives implements Drives {
  readonly identity: string;
  readonly retrier = new Retrier();
  readonly #store: Store;
  readonly #project: string;

  /** @param folder The store's folder, as an absolute path. */
  constructor(store: Store, folder: string, project: string) {
    this.#store = store;
    this.#project = project;
    this.identity = `${folder}\0${project}`;
  }

  async *listDrives(prefix = ""): AsyncIterable<DriveInfo> {
    yield* this.#pages(prefix, async (query) => {
      const { drives, more } = await this.#store.listDrives({ ...query, among: undefined });
      return { entries: drives, more };
    });
  }

  async *listFiles(drive: string, prefix: string): AsyncIterable<FileInfo> {
    const files = this.#pages(
      prefix,
      (query) => this.#store.list({ ...query, drive }, { recursive: true }),
    );
    for await (const { name, record } of files) if (record) yield infoOf(name, record);
  }

  async *listFolders(drive: string, prefix = ""): AsyncIterable<string> {
    const folders = this.#pages(prefix, (query) => this.#store.folders.list({ ...query, drive }));
    for await (const { name } of folders) yield name;
  }

  /** The entries of a list that the store reads page by page. */
  async *#pages<T extends { name: string }>(
    prefix: string,
    read: (query: PageQuery & { project: string }) => Promise<{ entries: T[]; more: boolean }>,
  ): AsyncIterable<T> {
    let last = "";
    for (;;) {
      const query = { project: this.#project, prefix, last, limit: MAX_LIST };
      const { entries, more } = await this.#run(() => read(query));
      yield* entries;
      if (!more) return;
      last = entries.at(-1)?.name ?? "";
    }
  }

  async createFolder(drive: string, name: string): Promise<void> {
    using _room = await this.#store.reserveDisk(0);
    await this.#run(() => this.#store.folders.create(this.#place(drive, name)));
  }

  async stat(drive: string, name: string): Promise<FileInfo | undefined> {
    const record = await this.#run(() => this.#store.files.stat(this.#place(drive, name)));
    return record && infoOf(name, record);
  }

  async read(drive: string, { name, etag }: FileInfo, from: number): Promise<FileContent> {
    const place = this.#place(drive, name);
    try {
      const file = await this.#store.files.open(place);
      if (file?.record.version !== etag) {
        file?.close();
        throw changed();
      }
      return { bytes: this.#bytesOf(file, place, from), sha256: file.record.sha256 };
    } catch (error) {
      throw asClientError(error);
    }
  }

  async putFile(
    drive: string,
    name: string,
    bytes: Uint8Array,
    { type, mtime, isNew }: WriteOptions,
  ): Promise<void> {
    using _room = await this.#store.reserveDisk(bytes.byteLength);
    const stored = await this.#run(() =>
      this.#store.files.put(this.#place(drive, name), once(bytes), {
        type,
        mtime,
        condition: conditionOf(isNew),
        accept: () => {},
      })
    );
    if (stored === "refused") throw new FileExists();
  }

  async startUpload(
    drive: string,
    name: string,
    { type, mtime }: FileAttributes,
  ): Promise<string> {
    const attributes = mtime === undefined ? {} : { mtime };
    return await this.#run(() =>
      this.#store.uploads.start(this.#place(drive, name), type, attributes)
    );
  }

  async partsOf(drive: string, name: string, id: string): Promise<PartSize[] | undefined> {
    try {
      return (await this.#store.uploads.get(this.#place(drive, name), id)).parts;
    } catch (error) {
      if (error instanceof UploadRefused) return undefined;
      throw asClientError(error);
    }
  }

  async putPart(
    drive: string,
    name: string,
    id: string,
    { number, bytes }: Part,
  ): Promise<void> {
    using _room = await this.#store.reserveDisk(bytes.byteLength);
    const about = { id, part: number, type: undefined };
    const place = this.#place(drive, name);
    await this.#run(() => this.#store.uploads.putPart(place, about, once(bytes), () => {}));
  }

  async complete(
    drive: string,
    name: string,
    id: string,
    { isNew }: { isNew: boolean },
  ): Promise<void> {
    const place = this.#place(drive, name);
    const result = await this.#run(() =>
      this.#store.uploads.complete(place, id, conditionOf(isNew))
    );
    if (result === "refused") throw new FileExists();
  }

  async abort(drive: string, name: string, id: string): Promise<void> {
    try {
      await this.#store.uploads.abort(this.#place(drive, name), id);
    } catch (error) {
      if (!(error instanceof UploadRefused)) throw error;
    }
  }

  async *#bytesOf(file: OpenFile, place: Place, from: number): AsyncIterable<Uint8Array> {
    const { version, size } = file.record;
    try {
      yield* await file.read({ start: from, end: size });
    } catch (error) {
      // The server keeps replaced bytes for a minute only, which may be too short for another process.
      const isThere = (await this.#store.files.stat(place))?.version === version;
      throw error instanceof StoreDamaged && !isThere ? changed() : asClientError(error);
    } finally {
      file.close();
    }
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    return await this.retrier.run(async () => {
      try {
        return await work();
      } catch (error) {
        throw asClientError(error);
      }
    });
  }

  #place(drive: string, name: string): Place {
    return { project: this.#project, drive, name };
  }
}

function infoOf(name: string, record: FileRecord): FileInfo {
  const { size, type, version, modified, mtime, sha256 } = record;
  return {
    name,
    size,
    type,
    etag: version,
    modified,
    ...(mtime === undefined ? {} : { mtime }),
    ...(sha256 === undefined ? {} : { sha256 }),
  };
}

function conditionOf(isNew: boolean): WriteCondition {
  return (current) => !isNew || current === undefined;
}

function changed(): FileChanged {
  return new FileChanged("The file was changed or deleted during the download");
}

/** Converts errors that concern one file, or may pass; any other ends the command. */
function asClientError(error: unknown): unknown {
  if (error instanceof StoreUnavailable) {
    return new TemporaryFailure(error.message, 0, { cause: error });
  }
  const isOfOneFile = error instanceof StoreDamaged || error instanceof UploadRefused;
  return isOfOneFile ? new ClientError(error.message, { cause: error }) : error;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

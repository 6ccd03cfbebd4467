// The package has no types. The parts that the project uses are declared here.

declare module "yauzl" {
  export interface Entry {
    fileNameRaw: Uint8Array;
    compressionMethod: number;
    uncompressedSize: number;
    crc32: number;
    externalFileAttributes: number;
    generalPurposeBitFlag: number;
    isEncrypted(): boolean;
    canDecodeFileData(): boolean;
  }
  export interface ZipFile {
    entryCount: number;
    eachEntry(): AsyncIterable<Entry>;
    openReadStreamPromise(entry: Entry): Promise<AsyncIterable<Uint8Array>>;
    close(): void;
  }
  export function openPromise(
    path: string,
    options: { autoClose: boolean; decodeStrings: boolean; validateEntrySizes: boolean },
  ): Promise<ZipFile>;
}

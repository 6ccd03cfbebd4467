import {
  contentDisposition,
  HttpResponse,
  ResponseHeaders,
} from "../../http/responses/http_response.ts";
import type { RequestContext } from "../../http/request_context.ts";
import {
  PieceStream,
  READER_PATIENCE,
  readFirst,
  releaseMemory,
} from "../../http/responses/response_stream.ts";
import { type ZipFile, zipPieces } from "../../rules/archive/zip_stream.ts";
import { CHUNK_SIZE, type FileRecord } from "../../store/engine/records.ts";
import type { OpenFile } from "../../store/files/file_reader.ts";
import type { ReadAhead } from "../../store/bytes/read_ahead.ts";
import { isWhole, MAX_WHOLE_FILE, type WholeFile } from "../../store/files/whole_files.ts";
import type { Store } from "../../store/store.ts";
import type { Deps } from "../endpoint.ts";
import { ArchivePlan, type ArchiveSelection, type PlannedFile } from "./archive_plan.ts";

/** Files that are opened while earlier ones are sent. */
const FILES_AHEAD = 32;

/** Bytes of small files that are read while earlier ones are sent, besides the last of them. */
const BYTES_AHEAD = 8 * CHUNK_SIZE;

/** An answer with an archive. */
export interface ArchiveRequest {
  method: string;
  requestId: string;
  context: RequestContext;
  /** The name under which browsers save the archive. */
  filename: string;
}

/**
 * Answers with a zip archive of files. Nothing is sent before all names are found and the first file is opened. After
 * that, an error closes the connection before the end of the archive, so that it is visibly incomplete.
 *
 * @throws {HttpError} 404 if a name does not exist, 400 if there are too many files.
 * @throws {MemoryExhausted} if no memory for another archive becomes free in time.
 */
export async function archiveResponse(
  selection: ArchiveSelection,
  { method, requestId, context, filename }: ArchiveRequest,
  { store, idleTimeout, onError }: Pick<Deps, "store" | "idleTimeout" | "onError">,
): Promise<Response> {
  const resources = new DisposableStack();
  try {
    const plan = resources.use(await ArchivePlan.make(store, selection));
    const headers = new ResponseHeaders({
      "Content-Type": "application/zip",
      "Content-Disposition": contentDisposition("attachment", filename),
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "no-store",
    });
    const { size } = plan;
    if (size !== undefined) headers.set("Content-Length", String(size));
    if (method === "HEAD") {
      resources.dispose();
      return new HttpResponse(null, { headers });
    }
    const memory = plan.memory + BYTES_AHEAD + MAX_WHOLE_FILE;
    const ahead = resources.use(await store.files.reader.readAhead(selection.project, memory));
    const files = openedAhead(plan.files(), (file) => open(store, selection, file, ahead));
    const body = new PieceStream(await readFirst(zipPieces(files)), {
      idle: idleTimeout * READER_PATIENCE,
      onEnd: () => resources.dispose(),
      onError: (error) => onError(error, requestId),
      context,
      release: releaseMemory,
    });
    return new HttpResponse(body, { headers });
  } catch (error) {
    resources.dispose();
    throw error;
  }
}

/** A file that is open until it has been sent. */
interface OpenZipFile extends ZipFile {
  close(): void;
}

/** Opens a file of an archive; `undefined` if it is gone and the archive can do without it. */
async function open(
  { files }: Store,
  { project, drive }: ArchiveSelection,
  { name, path, record, isFixed, isRequired }: PlannedFile,
  ahead: ReadAhead,
): Promise<OpenZipFile | undefined> {
  const whole = isWhole(record) ? await files.reader.readWhole(record) : undefined;
  if (whole !== undefined) return wholeZipFile(record, path, whole);
  const place = { project, drive, name };
  // The chunks of a version that is not held may be gone already.
  const file = isFixed
    ? await files.reader.openVersion(place, record)
    : await files.reader.openUncached(place);
  if (file === undefined) {
    if (!isFixed && !isRequired) return undefined;
    throw new FileChanged(`The file ${JSON.stringify(name)} was changed before it was sent`);
  }
  try {
    return zipFileOf(file, path, await file.crc32(), ahead);
  } catch (error) {
    file.close();
    throw error;
  }
}

function wholeZipFile({ size, modified }: FileRecord, path: string, whole: WholeFile): OpenZipFile {
  const { pieces, crc } = whole;
  return { path, size, crc, modified, bytes: pieces, close: () => {} };
}

function zipFileOf(file: OpenFile, path: string, crc: number, ahead: ReadAhead): OpenZipFile {
  const { size, modified } = file.record;
  return {
    path,
    size,
    crc,
    modified,
    bytes: () => file.read({ start: 0, end: size }, ahead),
    close: file.close,
  };
}

/** A version of a file is gone that an archive in progress has to contain. */
class FileChanged extends Error {
  override readonly name = "FileChanged";
}

interface Opening {
  bytes: number;
  file: Promise<OpenZipFile | undefined>;
}

/** Yields the files after opening them, several at a time. Each is closed when the next one is requested. */
async function* openedAhead(
  planned: AsyncGenerator<PlannedFile>,
  open: (file: PlannedFile) => Promise<OpenZipFile | undefined>,
): AsyncGenerator<OpenZipFile> {
  const opening: Opening[] = [];
  let bytes = 0;
  let hasMore = true;
  try {
    for (;;) {
      // Files that are opened together share a read, so they are opened in groups.
      const isLow = opening.length <= FILES_AHEAD / 2 && bytes <= BYTES_AHEAD / 2;
      while (hasMore && isLow && opening.length < FILES_AHEAD && bytes < BYTES_AHEAD) {
        const { done, value } = await planned.next();
        if (done) {
          hasMore = false;
          break;
        }
        const size = isWhole(value.record) ? value.record.size : CHUNK_SIZE;
        const file = open(value);
        // It is awaited later, or never.
        file.catch(() => {});
        opening.push({ bytes: size, file });
        bytes += size;
      }
      const next = opening.shift();
      if (next === undefined) return;
      bytes -= next.bytes;
      const file = await next.file;
      if (file === undefined) continue;
      try {
        yield file;
      } finally {
        file.close();
      }
    }
  } finally {
    await planned.return(undefined);
    for (const { file } of opening) file.then((one) => one?.close(), () => {});
  }
}

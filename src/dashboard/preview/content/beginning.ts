import type { Api } from "../../core/api.ts";
import { ApiError } from "../../core/api_error.ts";
import { useApp } from "../../core/context.ts";
import { type Resource, useResource } from "../../core/resource.ts";
import type { Entry, Place } from "../../files/entry.ts";

/** The beginning of a file, which can be extended. */
export interface Beginning {
  bytes: Uint8Array<ArrayBuffer>;
  etag: string;
  /** The size of the whole file. */
  total: number;
  /** Reads on; absent at the end of the file, and where it is long enough for a preview. */
  more?: () => Promise<void>;
}

/** A preview holds this much of a file at most, in bytes. */
const MAX_HELD = 8 * 1024 * 1024;

/** Reads the first bytes of a file. @param step Bytes of one reading. */
export function useBeginning(place: Place, entry: Entry, step: number): Resource<Beginning> {
  const { api } = useApp();
  const { name } = entry;
  const read = useResource(
    (signal) => readPart(api, place, name, [0, step], undefined, signal),
    [place.project, place.drive, name, entry.etag, step],
  );
  const { data } = read;
  if (data === undefined) return read;
  const held = data.bytes.length;
  const more = async () => {
    const next = await readPart(api, place, name, [held, held + step], data.etag)
      .catch((error) => {
        const isOther = error instanceof ApiError && error.status === 412;
        throw isOther
          ? new Error("Another version was stored meanwhile: open the file again")
          : error;
      });
    const longer = { ...next, bytes: joined(data.bytes, next.bytes) };
    read.edit((now) => now === data ? longer : now);
  };
  const isLonger = held < data.total && held < MAX_HELD;
  return { ...read, data: { ...data, ...(isLonger ? { more } : {}) } };
}

/** Reads a part of a file. @param version Another version is refused. */
export async function readPart(
  api: Api,
  { project, drive }: Place,
  name: string,
  [start, end]: [number, number],
  version?: string,
  signal: AbortSignal | null = null,
): Promise<Beginning> {
  const { data, response } = await api.GET("/v1/{project_id}/{drive_name}/files/download", {
    params: {
      path: { project_id: project, drive_name: drive },
      query: { name },
      header: {
        Range: `bytes=${start}-${end - 1}`,
        // A file that was written again since then is refused.
        ...(version === undefined ? {} : { "If-Match": version }),
      },
    },
    parseAs: "arrayBuffer",
    signal,
  });
  const bytes = new Uint8Array(data as ArrayBuffer);
  const total = Number(response.headers.get("content-range")?.split("/")[1] ?? bytes.length);
  return { bytes, total, etag: response.headers.get("etag") ?? "*" };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

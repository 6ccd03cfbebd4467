import { useEffect, useState } from "preact/hooks";
import type { Api } from "../../core/api.ts";
import { ApiError } from "../../core/api_error.ts";
import { useApp } from "../../core/context.ts";
import { type Resource, useResource } from "../../core/resource.ts";
import type { Entry, Place } from "../../files/entry.ts";

/** A range of a file. */
interface Part {
  bytes: Uint8Array<ArrayBuffer>;
  etag: string;
  /** The size of the whole file. */
  total: number;
}

/** The beginning of a file, which can be extended. */
export interface Beginning extends Part {
  /** Reads on; absent at the end of the file, and where it is long enough for a preview. */
  more?: () => Promise<void>;
}

/** A preview holds this much of a file at most, in bytes. */
const MAX_HELD = 8 * 1024 * 1024;

/** Reads the first bytes of a file. @param step Bytes of one reading. */
export function useBeginning(place: Place, entry: Entry, step: number): Resource<Beginning> {
  const { api } = useApp();
  const { name } = entry;
  const first = useResource(
    (signal) => readPart(api, place, name, [0, step], undefined, signal),
    [place.project, place.drive, name, entry.etag, step],
  );
  const [added, setAdded] = useState<Part>();
  useEffect(() => setAdded(undefined), [first.data]);
  const data = added ?? first.data;
  const held = data?.bytes.length ?? 0;
  const more = async () => {
    if (data === undefined) return;
    const next = await readPart(api, place, name, [held, held + step], data.etag)
      .catch((error) => {
        const isOther = error instanceof ApiError && error.status === 412;
        throw isOther
          ? new Error("Another version was stored meanwhile: open the file again")
          : error;
      });
    setAdded({ ...next, bytes: joined(data.bytes, next.bytes) });
  };
  const isLonger = data !== undefined && held < data.total && held < MAX_HELD;
  return {
    ...first,
    data: data === undefined ? undefined : { ...data, ...(isLonger ? { more } : {}) },
    set: () => {},
  };
}

async function readPart(
  api: Api,
  { project, drive }: Place,
  name: string,
  [start, end]: [number, number],
  version?: string,
  signal?: AbortSignal,
): Promise<Part> {
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
    ...(signal === undefined ? {} : { signal }),
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

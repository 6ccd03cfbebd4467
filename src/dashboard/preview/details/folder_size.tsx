import { useEffect, useState } from "preact/hooks";
import { type Api, pagesOf } from "../../core/api.ts";
import { useApp } from "../../core/context.ts";
import { formatBytes, plural } from "../../core/format.ts";
import type { Place } from "../../files/entry.ts";

/** Time that folders stay selected before they are counted, in milliseconds: keys may move on. */
const PATIENCE = 300;

/** Counts the files below folders. */
export function FolderSize({ place, prefixes }: { place: Place; prefixes: readonly string[] }) {
  const { api, toasts } = useApp();
  const [{ files, bytes, isComplete }, setTotal] = useState({
    files: 0,
    bytes: 0,
    isComplete: false,
  });
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const count = async () => {
      let [files, bytes] = [0, 0];
      for await (const part of sizesBelow(api, place, prefixes, signal)) {
        files += part.files;
        bytes += part.bytes;
        setTotal({ files, bytes, isComplete: false });
      }
      setTotal({ files, bytes, isComplete: true });
    };
    const timer = setTimeout(
      () => count().catch((error) => signal.aborted || toasts.error(error)),
      PATIENCE,
    );
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, []);
  return (
    <div class="details-group stack">
      <h3>Size</h3>
      <p aria-live="polite" class="number">
        {isComplete ? "" : "At least "}
        {formatBytes(bytes)}, {plural(files, "file")}
      </p>
    </div>
  );
}

/** The numbers and sizes of all files below folders, page by page. */
async function* sizesBelow(
  api: Api,
  { project, drive }: Place,
  prefixes: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<{ files: number; bytes: number }> {
  const path = { project_id: project, drive_name: drive };
  for (const prefix of prefixes) {
    yield* pagesOf((from) =>
      api.GET("/v1/{project_id}/{drive_name}/files/size", {
        params: { path, query: { prefix, ...from } },
        signal,
      })
    );
  }
}

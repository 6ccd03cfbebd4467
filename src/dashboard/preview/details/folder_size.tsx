import { Calculator } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Api, pagesOf } from "../../core/api.ts";
import { useApp } from "../../core/context.ts";
import { formatBytes, plural } from "../../core/format.ts";
import type { Place } from "../../files/entry.ts";
import { Button } from "../../ui/button.tsx";

interface Total {
  files: number;
  bytes: number;
  state: "counting" | "stopped" | "complete";
}

/** Time that folders stay selected before they are counted, in milliseconds: keys may move on. */
const PATIENCE = 300;

/** Counts the files below folders, which can be stopped. */
export function FolderSize({ place, prefixes }: { place: Place; prefixes: readonly string[] }) {
  const { api, toasts } = useApp();
  const [total, setTotal] = useState<Total>({ files: 0, bytes: 0, state: "counting" });
  const counting = useRef<AbortController | undefined>(undefined);
  useEffect(() => {
    const timer = setTimeout(() => void start(), PATIENCE);
    return () => {
      clearTimeout(timer);
      counting.current?.abort();
    };
  }, []);
  const start = async () => {
    const stop = counting.current = new AbortController();
    let [files, bytes] = [0, 0];
    setTotal({ files, bytes, state: "counting" });
    try {
      for await (const part of sizesBelow(api, place, prefixes, stop.signal)) {
        files += part.files;
        bytes += part.bytes;
        setTotal({ files, bytes, state: "counting" });
      }
      setTotal({ files, bytes, state: "complete" });
    } catch (error) {
      if (!stop.signal.aborted) toasts.error(error);
      setTotal((total) => ({ ...total, state: "stopped" }));
    }
  };
  const { files, bytes, state } = total;
  const isCounting = state === "counting";
  return (
    <div class="details-group stack">
      <h3>Size</h3>
      <p aria-live="polite" class="number">
        {state === "complete" ? "" : "At least "}
        {formatBytes(bytes)}, {plural(files, "file")}
        {isCounting ? "…" : state === "stopped" ? " (stopped)" : ""}
      </p>
      {isCounting
        ? <Button onClick={() => counting.current?.abort()}>Stop</Button>
        : state === "complete"
        ? null
        : <Button icon={Calculator} onClick={() => void start()}>Calculate again</Button>}
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

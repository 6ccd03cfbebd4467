import { useEffect, useState } from "preact/hooks";
import { useApp } from "../../core/context.ts";
import { type Resource, useResource } from "../../core/resource.ts";
import type { Entry, Place } from "../../files/entry.ts";
import { downloadBlob } from "../../files/listing/thumbnails.ts";

/**
 * Loads a whole file for what only shows a blob with the right type.
 *
 * @param convert Returns the blob to show; `null` if the file cannot be shown.
 * @returns The blob, and its address as soon as there is one.
 */
export function useBlob(
  { place, entry }: { place: Place; entry: Entry },
  convert: (file: Blob) => Promise<Blob | null> | Blob | null,
): [blob: Resource<Blob | null>, src: string | undefined] {
  const { api } = useApp();
  const blob = useResource(
    async (signal) => await convert(await downloadBlob(api, place, entry.name, signal)),
    [place.project, place.drive, entry.name, entry.etag],
  );
  const [src, setSource] = useState<string>();
  useEffect(() => {
    if (!blob.data) return;
    const url = URL.createObjectURL(blob.data);
    setSource(url);
    return () => URL.revokeObjectURL(url);
  }, [blob.data]);
  return [blob, src];
}

import { useEffect, useRef, useState } from "preact/hooks";
import { useApp } from "../../core/context.ts";
import { type Resource, useResource } from "../../core/resource.ts";
import { ticketsOf } from "../../files/actions/tickets.ts";
import type { Entry, Place } from "../../files/entry.ts";
import { downloadBlob } from "../../files/listing/thumbnails.ts";

/** Two failures within this time are of the file itself, in milliseconds. Tickets last an hour. */
const SAME_REASON = 60_000;

/** Returns the address that the browser loads a file from by itself. */
export function useAddress({ place, entry: { name } }: { place: Place; entry: Entry }) {
  const app = useApp();
  const { project, drive } = place;
  // The ticket may have ended: a failure gets another one. A film may be longer than several tickets.
  const [failures, setFailures] = useState(0);
  const [isBroken, setBroken] = useState(false);
  const lastFailure = useRef(-Infinity);
  const url = useResource(async (signal) => {
    const tickets = ticketsOf(app);
    if (failures > 0) {
      // The answer tells why it failed: an error is shown in place of the file.
      await app.api.HEAD("/v1/{project_id}/{drive_name}/files/download", {
        params: { path: { project_id: project, drive_name: drive }, query: { name } },
        signal,
      });
      tickets.forget(place, name);
    }
    return await tickets.addressOf(place, name);
  }, [project, drive, name, failures]);
  return {
    url,
    /** Whether the file is there, but the browser cannot show it. */
    isBroken,
    /** To be called when the browser could not load or show the file, for which it gives no reason. */
    fail: () => {
      const now = performance.now();
      setBroken(now - lastFailure.current < SAME_REASON);
      lastFailure.current = now;
      setFailures(failures + 1);
    },
  };
}

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

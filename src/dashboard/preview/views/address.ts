import { useRef, useState } from "preact/hooks";
import { useApp } from "../../core/context.ts";
import { type Resource, useResource } from "../../core/resource.ts";
import { ticketsOf } from "../../files/actions/tickets.ts";
import type { Entry, Place } from "../../files/entry.ts";

/** Two failures within this time are of the file itself, in milliseconds. Tickets last an hour. */
const SAME_REASON = 60_000;

/** The address that the browser loads a file from by itself. */
export interface FileAddress {
  url: Resource<string>;
  /** Whether the file is there, but the browser cannot show it. */
  isBroken: boolean;
  /** To be called when the browser could not load or show the file, for which it gives no reason. */
  fail: () => void;
}

export function useAddress(
  { place, entry: { name } }: { place: Place; entry: Entry },
): FileAddress {
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
    isBroken,
    fail: () => {
      const now = performance.now();
      setBroken(now - lastFailure.current < SAME_REASON);
      lastFailure.current = now;
      setFailures(failures + 1);
    },
  };
}

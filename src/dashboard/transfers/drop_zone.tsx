import type { ComponentChildren } from "preact";
import type { Place } from "../files/entry.ts";

/** Uploads files and folders that are dropped or pasted onto its content. */
export function DropZone({ children }: { place: Place; children: ComponentChildren }) {
  return <>{children}</>;
}

/** The menu button "Upload" of a folder: files, or a folder. */
export function UploadButton(_: { place: Place }) {
  return null;
}

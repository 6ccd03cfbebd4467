import {
  Archive,
  File,
  FileAudio,
  FileCode,
  FileImage,
  FileText,
  FileVideo,
  Folder,
  type IconNode,
} from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../../ui/icon.tsx";
import type { Entry } from "../entry.ts";
import { type Kind, typeOf } from "../listing/kinds.ts";
import { useFolder } from "./folder_model.ts";

const ICONS: Record<Kind, IconNode> = {
  folder: Folder,
  image: FileImage,
  video: FileVideo,
  audio: FileAudio,
  document: FileText,
  archive: Archive,
  code: FileCode,
  other: File,
};

/** The icon of a file's kind, in the color of the kind. */
export function KindIcon({ kind, size = 20 }: { kind: Kind; size?: number }) {
  const color = `var(--kind-${kind}, var(--text-soft))`;
  return <Icon of={ICONS[kind]} size={size} class={`kind-${kind}`} color={color} />;
}

/** Time that an entry is visible before its image is loaded, in milliseconds: fast scrolling loads nothing. */
const PATIENCE = 100;

/** A small picture of a file: of its content if it is an image, else of its kind. */
export function Picture({ entry, size }: { entry: Entry; size: number }) {
  const url = useThumbnail(entry);
  return (
    <span class="picture" aria-hidden="true">
      {url === "" || url === undefined
        ? <KindIcon kind={typeOf(entry).kind} size={size} />
        : <img key={url} src={url} alt="" draggable={false} decoding="async" />}
    </span>
  );
}

function useThumbnail(entry: Entry): string | undefined {
  const { room: { thumbnails }, place, transfers } = useFolder();
  // An upload of this page stores one before it ends, and then the list is read again.
  const isPending = !entry.thumbnail && transfers.isSending({ ...place, name: entry.name });
  const isPossible = !isPending && thumbnails.isPossible(entry);
  const ready = isPossible ? thumbnails.ready(place, entry) : "";
  const [, setTurn] = useState(0);
  useEffect(() => {
    if (!isPossible || ready !== undefined) return;
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      await thumbnails.load(place, entry, leaving.signal);
      if (!leaving.signal.aborted) setTurn((turn) => turn + 1);
    }, PATIENCE);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [entry.name, entry.etag, isPossible]);
  return ready;
}

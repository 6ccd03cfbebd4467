import { useEffect, useMemo, useRef } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { useLive } from "../core/resource.ts";
import { Details } from "../preview/details.tsx";
import { Lightbox } from "../preview/lightbox.tsx";
import { useSharedTransfers } from "../transfers/transfers.ts";
import { DropZone } from "../transfers/drop_zone.tsx";
import { useTitle } from "../ui/page.tsx";
import { useClipboard } from "./actions/clipboard.ts";
import { useShortcuts } from "./actions/shortcuts.tsx";
import { labelOf, type Place } from "./entry.ts";
import { filtersIn } from "./listing/filters.ts";
import { selectOnly } from "./listing/selection.ts";
import { Footer, IncompleteNotice } from "./view/bars.tsx";
import { Content } from "./view/content.tsx";
import { FolderContext, type FolderModel } from "./view/folder_model.ts";
import { FilesRoom } from "./view/files_room.ts";
import { Header } from "./view/header.tsx";

/** A folder of a drive. */
export function Folder({ project, drive, path, query }: Place & { query: URLSearchParams }) {
  const app = useApp();
  const room = useMemo(() => new FilesRoom(app), []);
  useEffect(() => () => room.close(), []);
  useLive({ project, drive }, () => room.followOthers());
  const place = JSON.stringify([project, drive, path]);
  return <OpenFolder key={place} room={room} place={{ project, drive, path }} query={query} />;
}

function OpenFolder({ room, place, query }: {
  room: FilesRoom;
  place: Place;
  query: URLSearchParams;
}) {
  const transfers = useSharedTransfers();
  const folder = useMemo(() => room.open(place, transfers), []);
  const text = query.get("q") ?? "";
  // Before the first rendering, so a search in the address does not show the folder first.
  useMemo(() => folder.search(text, 0), [text]);
  const filters = JSON.stringify(filtersIn(query));
  useMemo(() => void (folder.filters.value = JSON.parse(filters)), [filters]);
  useEffect(() => {
    folder.start();
    return () => folder.stop();
  }, []);
  const title = labelOf({ name: place.path }) || place.drive;
  useTitle(title);
  const { app, preferences: { hasDetails } } = room;
  const selected = () => folder.selected.peek();
  useClipboard({ app, place, selected, room });
  useShortcuts(folder);
  return (
    <FolderContext.Provider value={folder}>
      <DropZone place={place}>
        <div class="files-view">
          <Header onSearch={(text) => search(folder, text)} />
          <div class="files-body">
            <Content label={`Files in ${title}`} />
            {hasDetails.value && (
              <Details
                place={place}
                entries={folder.selected.value}
                onClose={() => void (hasDetails.value = false)}
              />
            )}
          </div>
          <IncompleteNotice />
          <Footer />
        </div>
      </DropZone>
      <Preview folder={folder} name={query.get("open")} />
    </FolderContext.Provider>
  );
}

/** The file of the address over the list. */
function Preview({ folder, name }: { folder: FolderModel; name: string | null }) {
  const { place, rows, room: { app }, isSearching, source } = folder;
  const whole = name === null ? "" : isSearching ? name : place.path + name;
  const files = useMemo(() => rows.value.filter(({ kind }) => kind === "file"), [rows.value]);
  const index = files.findIndex((file) => file.name === whole);
  const isThere = index >= 0;
  const isGone = name !== null && !isThere && source.value.progress.value === "complete";
  const here = folder.hash;
  const shown = useRef({ name: "", index: 0 });
  if (isThere) shown.current = { name: whole, index };
  const move = (name: string) => {
    const { state } = history;
    app.router.replace(folder.hashOf({ kind: "file", name }));
    history.replaceState(state, "");
    folder.selection.value = selectOnly(name);
  };
  const close = () => {
    // Back leads to the list with its place and selection.
    if (Object(history.state).isPreview === true) history.back();
    else app.router.replace(here);
  };
  // A file that is deleted while it is shown makes room for the next one.
  const wasShown = !isThere && shown.current.name === whole;
  const next = wasShown ? files[Math.min(shown.current.index, files.length - 1)] : undefined;
  useEffect(() => {
    if (!isGone) return;
    if (next !== undefined) return move(next.name);
    if (!wasShown) app.toasts.info(`“${labelOf({ name: whole })}” is not here`);
    app.router.replace(here);
  }, [isGone]);
  const visible = isThere ? whole : next?.name;
  if (name === null || visible === undefined) return null;
  return <Lightbox place={place} files={files} name={visible} onMove={move} onClose={close} />;
}

/** Searches, and lets the address follow: Back ends the search. */
function search(folder: FolderModel, text: string): void {
  const { room: { app: { router } } } = folder;
  const wasSearching = folder.isSearching;
  folder.search(text);
  const { hash } = folder;
  if (wasSearching) router.replace(hash);
  else router.go(hash);
}

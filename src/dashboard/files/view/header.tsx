import { ArrowDownUp, ArrowLeft, Ellipsis, Folder, Search, X } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { links } from "../../core/links.ts";
import { UploadButton } from "../../transfers/drop_zone.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { MenuButton, type MenuItem } from "../../ui/menu.tsx";
import { folderOf, labelOf } from "../entry.ts";
import { type ActionName, actionOf, itemsOf, sortItems } from "./actions.ts";
import { FilterChips, SelectionBar } from "./bars.tsx";
import { useDrop } from "./drag.ts";
import { useFolder } from "./folder_model.ts";
import { useMedia } from "./geometry.ts";

/** What is above the list: where it is, how to find something, and what can be done. */
export function Header({ onSearch }: { onSearch: (text: string) => void }) {
  const folder = useFolder();
  const { room: { app: { session } } } = folder;
  const isNarrow = useMedia("(width < 768px)");
  const isSmall = useMedia("(width < 1024px)");
  const [isOpen, setOpen] = useState(folder.isSearching);
  const isSelecting = folder.selection.value.names.size > 0;
  const upload = <UploadButton place={folder.place} />;
  const more = <MoreButton />;
  const field = (
    <SearchField
      onSearch={onSearch}
      isNarrow={isNarrow}
      onClose={() => {
        onSearch("");
        setOpen(false);
      }}
    />
  );
  return (
    <header class="files-head">
      <div class="files-title line between">
        {isNarrow && isOpen ? field : isNarrow ? <Title /> : <Breadcrumbs />}
        {isNarrow
          ? isOpen
            ? null
            : <IconButton icon={Search} label="Search" onClick={() => setOpen(true)} />
          : field}
        {isNarrow ? more : null}
        {isNarrow && isSelecting ? upload : null}
      </div>
      <div class="files-bar line between">
        {isSelecting ? <SelectionBar /> : <FilterChips />}
        {isNarrow ? (isSelecting ? null : upload) : (
          <div class="files-tools line">
            {isSmall ? more : <ViewButtons />}
            {!isSmall && session.may("write") && <HeaderButton name="newFolder" hasLabel />}
            {upload}
          </div>
        )}
      </div>
    </header>
  );
}

/** Folders above this one that are shown besides the drive; a menu has the others. */
const SHOWN_ABOVE = 2;

/** The folders above this one. Entries can be dropped on them. */
function Breadcrumbs() {
  const { place: { project, drive, path }, room: { app: { router } } } = useFolder();
  const drop = useDrop((event) => {
    const element = (event.target as Element).closest<HTMLElement>("[data-path]");
    return element === null ? undefined : { path: element.dataset["path"] ?? "", element };
  });
  const above: string[] = [];
  for (let one = path; one !== ""; one = folderOf({ name: one })) above.unshift(one);
  const last = above.pop();
  // A menu of one folder would need as much room as the folder.
  const isDeep = above.length > SHOWN_ABOVE + 1;
  const hidden = isDeep ? above.splice(0, above.length - SHOWN_ABOVE) : [];
  const inMenu = hidden.map((folder): MenuItem => ({
    label: labelOf({ name: folder }) || "/",
    icon: Folder,
    run: () => router.go(links.folder(project, drive, folder)),
  }));
  const crumb = (folder: string) => (
    <li key={folder}>
      <a class="ellipsis" href={links.folder(project, drive, folder)} data-path={folder}>
        {folder === "" ? drive : labelOf({ name: folder }) || "/"}
      </a>
    </li>
  );
  return (
    <nav class="crumbs" aria-label="Folders" {...drop}>
      <ol>
        <li>
          <a class="ellipsis" href={links.drives(project)}>Files</a>
        </li>
        {last !== undefined && crumb("")}
        {hidden.length > 0 && (
          <li>
            <MenuButton icon={Ellipsis} label="Folders in between" items={inMenu} menu="Folders" />
          </li>
        )}
        {above.map(crumb)}
        <li>
          <h1 class="ellipsis" tabIndex={-1} aria-current="page">
            {last === undefined ? drive : labelOf({ name: last }) || "/"}
          </h1>
        </li>
      </ol>
    </nav>
  );
}

/** The name of the folder with a way back, on narrow screens. */
function Title() {
  const { place: { project, drive, path } } = useFolder();
  const above = folderOf({ name: path });
  return (
    <nav class="crumbs" aria-label="Folders">
      <a
        class="icon-button"
        href={path === "" ? links.drives(project) : links.folder(project, drive, above)}
        aria-label={path === "" ? "All drives" : `Back to ${labelOf({ name: above }) || drive}`}
      >
        <Icon of={ArrowLeft} size={20} />
      </a>
      <h1 class="ellipsis" tabIndex={-1} aria-current="page">
        {path === "" ? drive : labelOf({ name: path }) || "/"}
      </h1>
    </nav>
  );
}

function SearchField({ onSearch, onClose, isNarrow }: {
  onSearch: (text: string) => void;
  onClose: () => void;
  isNarrow: boolean;
}) {
  const { query, place: { drive } } = useFolder();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isNarrow) input.current?.focus();
  }, [isNarrow]);
  const close = () => {
    onClose();
    input.current?.focus();
  };
  return (
    <div class="search line" role="search">
      <Icon of={Search} size={16} />
      <input
        ref={input}
        class="input"
        type="search"
        aria-label={`Search in ${drive}`}
        placeholder={`Search in ${drive}`}
        autocomplete="off"
        spellcheck={false}
        value={query.value}
        onInput={(event) => onSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") close();
        }}
      />
      {(isNarrow || query.value !== "") && (
        <IconButton icon={X} label="Close the search" size={16} onClick={close} />
      )}
    </div>
  );
}

function ViewButtons() {
  const folder = useFolder();
  const { room: { preferences: { layout, hasDetails } } } = folder;
  return (
    <>
      {layout.value === "grid" && (
        <MenuButton icon={ArrowDownUp} label="Sort" items={sortItems(folder)} menu="Sort" />
      )}
      <HeaderButton name="refresh" />
      <HeaderButton name="layout" />
      <HeaderButton name="details" isPressed={hasDetails.value} />
    </>
  );
}

function HeaderButton({ name, hasLabel = false, isPressed }: {
  name: ActionName;
  hasLabel?: boolean;
  isPressed?: boolean;
}) {
  const { label, icon, run } = actionOf(name, { folder: useFolder(), entries: [] });
  return hasLabel
    ? <Button icon={icon!} onClick={run}>{label}</Button>
    : <IconButton icon={icon!} label={label} aria-pressed={isPressed} onClick={run} />;
}

/** The menu of small screens, with the entries that do not fit into the header. */
function MoreButton() {
  const folder = useFolder();
  const items = [...itemsOf("header", { folder, entries: [] }), ...sortItems(folder)];
  return <MenuButton icon={Ellipsis} label="View and folder" items={items} menu="View" />;
}

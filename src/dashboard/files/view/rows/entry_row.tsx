import { Clock, Link } from "lucide";
import { formatBytes, formatDate, formatTime } from "../../../core/format.ts";
import { links } from "../../../core/links.ts";
import { Icon } from "../../../ui/icon.tsx";
import { RenameField } from "../../actions/rename_field.tsx";
import { type Entry, folderOf, labelOf } from "../../entry.ts";
import { typeOf } from "../../listing/kinds.ts";
import { useFolder } from "../folder_model.ts";
import { Picture } from "../kind_icon.tsx";
import { highlight } from "../search.ts";

export interface EntryProps {
  entry: Entry;
  index: number;
  isSelected: boolean;
  /** Whether the keyboard is at this entry. */
  isFocused: boolean;
  isShared: boolean;
  isDraggable: boolean;
  /** Where the entry stands in the list. */
  style: Record<string, string>;
}

export function EntryRow(props: EntryProps) {
  const { entry } = props;
  const { isSearching } = useFolder();
  const isFile = entry.kind === "file";
  return (
    <div {...frameOf(props, "entry entry-row")}>
      <div role="gridcell" class="entry-main line">
        <span class="entry-check" aria-hidden="true" />
        <span class="entry-picture">
          <Picture entry={entry} size={20} />
        </span>
        <Name entry={entry} />
        <Badges {...props} />
        <span class="entry-meta hint ellipsis" aria-hidden="true">
          {isSearching ? <Location entry={entry} /> : null}
          {isSearching ? " · " : null}
          {isFile ? `${formatBytes(entry.size ?? 0)} · ${formatDate(entry.modified)}` : "Folder"}
        </span>
      </div>
      <div role="gridcell" class="cell-type">
        {isSearching ? <Location entry={entry} /> : typeOf(entry).label}
      </div>
      <div role="gridcell" class="cell-modified" title={isFile ? formatTime(entry.modified) : ""}>
        {isFile ? formatDate(entry.modified) : "—"}
      </div>
      <div role="gridcell" class="cell-size">{isFile ? formatBytes(entry.size ?? 0) : "—"}</div>
      <div role="gridcell" class="cell-menu">
        <More entry={entry} />
      </div>
    </div>
  );
}

export function EntryTile(props: EntryProps) {
  const { entry } = props;
  const { isSearching } = useFolder();
  return (
    <div {...frameOf(props, "entry entry-tile")}>
      <div role="gridcell" class="tile frame">
        <span class="entry-picture">
          <Picture entry={entry} size={44} />
          <span class="entry-check" aria-hidden="true" />
        </span>
        <div class="tile-foot">
          <Name entry={entry} />
          <More entry={entry} />
          <span class="entry-meta hint ellipsis">
            {isSearching
              ? <Location entry={entry} />
              : entry.kind === "file"
              ? formatBytes(entry.size ?? 0)
              : "Folder"}
            <Badges {...props} />
          </span>
        </div>
      </div>
    </div>
  );
}

function frameOf(props: EntryProps, name: string) {
  const { entry, index, isSelected, isFocused, isDraggable, style } = props;
  return {
    role: "row" as const,
    class: name,
    "aria-label": labelOf(entry) || "/",
    "aria-selected": isSelected,
    "aria-rowindex": index + 2,
    tabIndex: isFocused ? 0 : -1,
    draggable: isDraggable,
    "data-index": index,
    "data-name": entry.name,
    style,
  };
}

function Name({ entry }: { entry: Entry }) {
  const folder = useFolder();
  const { actions } = folder;
  if (actions.renaming.value === entry.name) {
    return <RenameField entry={entry} actions={actions} onEnd={() => focusRow(entry, true)} />;
  }
  const label = labelOf(entry) || "/";
  return (
    <a class="entry-name" href={folder.hashOf(entry)} tabIndex={-1} draggable={false} title={label}>
      <Highlighted text={label} query={folder.query.value} />
    </a>
  );
}

/** A text in which the words of a search are marked. */
function Highlighted({ text, query }: { text: string; query: string }) {
  return (
    <>
      {highlight(text, query).map(({ text, isHit }, index) =>
        isHit ? <mark key={index}>{text}</mark> : text
      )}
    </>
  );
}

/**
 * Gives the focus to an entry of the list, or to the one that had it last, after a name was edited, or a file was shown.
 *
 * @param isLost Only if no other element has the focus: the user may have moved it.
 */
export function focusRow({ name }: Pick<Entry, "name">, isLost = false): void {
  requestAnimationFrame(() => {
    if (isLost && document.activeElement !== document.body) return;
    const rows = [...document.querySelectorAll<HTMLElement>(".entry")];
    const row = rows.find(({ dataset }) => dataset["name"] === name) ??
      rows.find(({ tabIndex }) => tabIndex === 0);
    row?.focus();
  });
}

/** The folder of a hit, as a link. */
function Location({ entry }: { entry: Entry }) {
  const { place: { project, drive }, query } = useFolder();
  const folder = folderOf(entry);
  return (
    <a class="entry-folder" href={links.folder(project, drive, folder)} tabIndex={-1}>
      {folder === "" ? drive : <Highlighted text={folder.slice(0, -1)} query={query.value} />}
    </a>
  );
}

function Badges({ entry, isShared }: EntryProps) {
  return (
    <>
      {isShared ? <Badge icon={Link} text="Shared with a link" /> : null}
      {entry.expires === undefined
        ? null
        : <Badge icon={Clock} text={`Expires ${formatTime(entry.expires)}`} />}
    </>
  );
}

function Badge({ icon, text }: { icon: typeof Link; text: string }) {
  return (
    <span class="entry-badge" role="img" aria-label={text} title={text}>
      <Icon of={icon} size={14} />
    </span>
  );
}

/** The button of the menu. There are many: the list handles their clicks, and style sheets draw them. */
function More({ entry }: { entry: Entry }) {
  const label = `Actions for ${labelOf(entry)}`;
  return (
    <button
      type="button"
      class="icon-button entry-more"
      aria-label={label}
      title={label}
      aria-haspopup="menu"
      tabIndex={-1}
    />
  );
}

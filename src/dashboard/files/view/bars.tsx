import { ChevronDown, CloudOff, Ellipsis, RefreshCw, X } from "lucide";
import { useMemo } from "preact/hooks";
import { sentenceOf } from "../../core/api_error.ts";
import { formatBytes, formatNumber, plural } from "../../core/format.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { type MenuAction, MenuButton, type MenuItem, openMenu } from "../../ui/menu.tsx";
import { Icon } from "../../ui/icon.tsx";
import type { Entry } from "../entry.ts";
import { CHOICES, type Filters, isFiltering } from "../listing/filters.ts";
import { EMPTY } from "../listing/selection.ts";
import { itemsOf } from "./actions.ts";
import { useFolder } from "./folder_model.ts";
import { useMedia } from "./geometry.ts";
import { MAX_HITS } from "./search.ts";

export function SelectionBar() {
  const folder = useFolder();
  const { selection, selected } = folder;
  const isNarrow = useMedia("(width < 640px)");
  const isSmall = useMedia("(width < 1440px)");
  const on = { folder, entries: selected.value };
  const buttons = itemsOf("buttons", on).filter((item) => item !== "-");
  return (
    <div class="selection-bar line" role="toolbar" aria-label="Selected files">
      <IconButton
        icon={X}
        label="Clear the selection"
        onClick={() => void (selection.value = EMPTY)}
      />
      <p role="status">
        {isNarrow
          ? formatNumber(selected.value.length)
          : `${formatNumber(selected.value.length)} selected`}
      </p>
      {buttons.map((item) => <BarButton key={item.label} item={item} isSmall={isSmall} />)}
      <MenuButton
        icon={Ellipsis}
        label="More actions"
        items={itemsOf("bar", on)}
        menu="Actions"
      />
    </div>
  );
}

function BarButton({ item, isSmall }: { item: MenuAction; isSmall: boolean }) {
  const { label, icon, run } = item;
  if (isSmall && icon !== undefined) return <IconButton icon={icon} label={label} onClick={run} />;
  return (
    <Button class="bar-button small" {...(icon === undefined ? {} : { icon })} onClick={run}>
      {label}
    </Button>
  );
}

const TITLES: Record<keyof Filters, string> = { kind: "Kind", size: "Size", age: "Modified" };

export function FilterChips() {
  const { filters, filter } = useFolder();
  return (
    <div class="chips line" role="group" aria-label="Filters">
      {(Object.keys(CHOICES) as (keyof Filters)[]).map((name) => <Chip key={name} name={name} />)}
      {isFiltering(filters.value) && <Button kind="quiet" onClick={() => filter({})}>Clear</Button>}
    </div>
  );
}

function Chip({ name }: { name: keyof Filters }) {
  const { filters, filter, room: { app } } = useFolder();
  const chosen = filters.value[name];
  const choices: readonly (readonly [string | number, string])[] = CHOICES[name];
  const label = choices.find(([value]) => value === chosen)?.[1];
  const choose = (value: string | number | undefined) => () => {
    const { [name]: _, ...others } = filters.value;
    filter(value === undefined ? others : { ...others, [name]: value });
  };
  const items: MenuItem[] = [
    { label: "Any", isChecked: chosen === undefined, run: choose(undefined) },
    "-",
    ...choices.map(([value, label]) => ({
      label,
      isChecked: value === chosen,
      run: choose(value),
    })),
  ];
  return (
    <button
      type="button"
      class={label === undefined ? "chip" : "chip chosen"}
      aria-haspopup="menu"
      onClick={(event) => void openMenu(app, event.currentTarget, items, TITLES[name])}
    >
      {label === undefined ? TITLES[name] : (
        <>
          <span class="visually-hidden">{TITLES[name]}:</span> {label}
        </>
      )}
      <Icon of={ChevronDown} size={14} />
    </button>
  );
}

/** Says that the last reading failed while a list is shown: a part of it must not look like all of it. */
export function IncompleteNotice() {
  const folder = useFolder();
  const { rows, source, isSearching } = folder;
  const { error, progress } = source.value;
  if (error.value === undefined || rows.value.length === 0) return null;
  const isWhole = progress.value === "complete";
  const shown = isSearching ? "hits" : "files";
  return (
    <div class="files-problem notice warn line" role="alert">
      <Icon of={CloudOff} />
      <p>
        {isWhole ? "This list may be out of date" : `Some ${shown} are missing here`}
        {`: ${sentenceOf(error.value)}.`}
      </p>
      <Button icon={RefreshCw} onClick={() => folder.refresh()}>Try again</Button>
    </div>
  );
}

/** How many entries there are, and how large they are together. */
export function Footer() {
  const folder = useFolder();
  const { rows, selected, source, searched, isSearching } = folder;
  const { entries, error, isReading, progress } = source.value;
  const chosen = selected.value;
  const size = useMemo(() => sizeOf(rows.value), [rows.value]);
  const isPartial = isReading.value && progress.value !== "complete";
  const isBroken = error.value !== undefined && progress.value !== "complete";
  const isCut = isSearching && entries.value.length >= MAX_HITS;
  const count = isSearching ? plural(rows.value.length, "hit") : plural(rows.value.length, "item");
  return (
    <footer class="files-foot line between hint">
      <p role="status">
        {isBroken ? `At least ${count}` : count}
        {size}
        {isCut ? ": search for more letters to see others" : null}
        {isPartial && isSearching ? `, searched ${formatNumber(searched.value)} names …` : null}
        {isPartial && !isSearching ? ", loading more …" : null}
      </p>
      {chosen.length === 0 ? null : <p>{formatNumber(chosen.length)} selected{sizeOf(chosen)}</p>}
    </footer>
  );
}

function sizeOf(entries: readonly Entry[]): string {
  let bytes = 0;
  let hasFiles = false;
  for (const { kind, size = 0 } of entries) {
    bytes += size;
    hasFiles ||= kind === "file";
  }
  return hasFiles ? ` · ${formatBytes(bytes)}` : "";
}

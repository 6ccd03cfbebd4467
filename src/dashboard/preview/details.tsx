import { X } from "lucide";
import { formatBytes, plural } from "../core/format.ts";
import { type Entry, labelOf, type Place } from "../files/entry.ts";
import { IconButton } from "../ui/button.tsx";
import { Facts } from "../ui/facts.tsx";
import { FileDetails, Title } from "./details/file_details.tsx";
import { EntryLinks, Paths } from "./details/links.tsx";
import { FolderSize } from "./details/folder_size.tsx";

/** The side panel with the details of the selected entries; of the folder itself without any. */
export function Details({ place, entries, onClose }: {
  place: Place;
  entries: readonly Entry[];
  onClose: () => void;
}) {
  const [first, ...others] = entries;
  return (
    <section
      class="details"
      aria-label="Details"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <header class="details-head line between">
        <h2>Details</h2>
        <IconButton icon={X} label="Close details" onClick={onClose} />
      </header>
      <div class="details-body stack">
        {first === undefined
          ? <FolderDetails place={place} entry={{ kind: "folder", name: place.path }} />
          : others.length > 0
          ? <ManyDetails place={place} entries={entries} />
          : <OneDetails key={`${first.name}\n${first.etag}`} place={place} entry={first} />}
      </div>
    </section>
  );
}

function OneDetails(props: { place: Place; entry: Entry }) {
  return props.entry.kind === "file" ? <FileDetails {...props} /> : <FolderDetails {...props} />;
}

/** A folder, or the drive itself for an empty name. */
function FolderDetails({ place, entry }: { place: Place; entry: Entry }) {
  const { drive } = place;
  return (
    <>
      <Title entry={entry} label={labelOf(entry) || drive} />
      <Facts isPanel facts={[["Type", entry.name === "" ? "Drive" : "Folder"]]} />
      <FolderSize key={entry.name} place={place} prefixes={[entry.name]} />
      {entry.name === "" ? null : <EntryLinks place={place} entry={entry} />}
      {entry.name === "" ? null : <Paths place={place} entry={entry} />}
    </>
  );
}

function ManyDetails({ place, entries }: { place: Place; entries: readonly Entry[] }) {
  const files = entries.filter(({ kind }) => kind === "file");
  const folders = entries.filter(({ kind }) => kind === "folder");
  const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0);
  const prefixes = folders.map(({ name }) => name);
  return (
    <>
      <p class="details-count">{plural(entries.length, "item")} selected</p>
      <Facts
        isPanel
        facts={[
          files.length > 0 && ["Files", `${plural(files.length, "file")}, ${formatBytes(bytes)}`],
          folders.length > 0 && ["Folders", plural(folders.length, "folder")],
        ]}
      />
      {folders.length === 0
        ? null
        : <FolderSize key={prefixes.join("\n")} place={place} prefixes={prefixes} />}
    </>
  );
}

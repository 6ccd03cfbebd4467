import { FolderOpen, SearchX } from "lucide";
import { links } from "../../core/links.ts";
import { ConnectWays } from "../../settings/connect.tsx";
import { mayUpload } from "../../transfers/drop_zone.tsx";
import { Button } from "../../ui/button.tsx";
import { Empty, LoadProblem, Skeleton } from "../../ui/loaded.tsx";
import { isFiltering } from "../listing/filters.ts";
import { FileGrid } from "./file_grid.tsx";
import { useFolder } from "./folder_model.ts";

/** The list of the folder, or what is said in its place. */
export function Content({ label }: { label: string }) {
  const folder = useFolder();
  const { rows, source, room: { app: { session } } } = folder;
  const { progress, error } = source.value;
  if (!session.may("list")) {
    return (
      <Empty
        icon={FolderOpen}
        title="This key may not list files"
        text="It can be used by programs that know the names of their files."
      />
    );
  }
  if (rows.value.length > 0) {
    const isShared = (name: string) => folder.shared.isShared({ name });
    return <FileGrid {...{ label, isShared }} />;
  }
  if (error.value !== undefined) {
    return <LoadProblem error={error.value} onRetry={() => folder.refresh()} />;
  }
  if (progress.value !== "complete") {
    return (
      <div class="files-loading">
        <Skeleton rows={8} />
      </div>
    );
  }
  return <Nothing />;
}

function Nothing() {
  const { filters, filter, isSearching, query, place, room: { app } } = useFolder();
  const { router, session } = app;
  if (isFiltering(filters.value)) {
    return (
      <Empty icon={SearchX} title="Nothing matches these filters">
        <Button onClick={() => filter({})}>Clear the filters</Button>
      </Empty>
    );
  }
  if (isSearching) {
    return (
      <Empty
        icon={SearchX}
        title={`No name contains “${query.value}”`}
        text={`The whole drive ${place.drive} was searched.`}
      >
        <Button onClick={() => router.go(links.search(place.project, query.value))}>
          Search in all drives
        </Button>
      </Empty>
    );
  }
  return (
    <Empty
      icon={FolderOpen}
      title={place.path === "" ? "This drive is empty" : "This folder is empty"}
      text={mayUpload(session, place) ? "Drop files or folders here, or upload them." : undefined}
    >
      {place.path === "" && mayUpload(session, place) && <ConnectWays project={place.project} />}
    </Empty>
  );
}

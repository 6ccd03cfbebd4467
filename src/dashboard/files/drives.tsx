import { ChevronRight, HardDrive, Plus } from "lucide";
import type { Schemas } from "../core/api.ts";
import { type App, useApp } from "../core/context.ts";
import { formatBytes, plural } from "../core/format.ts";
import { links } from "../core/links.ts";
import { useLive, usePages } from "../core/resource.ts";
import { Button } from "../ui/button.tsx";
import { askForText } from "../ui/form.tsx";
import { Icon } from "../ui/icon.tsx";
import { Empty, Loaded } from "../ui/loaded.tsx";
import { FilterBar, useQuery } from "../ui/filter_bar.tsx";
import { Page } from "../ui/page.tsx";
import { HitsOfDrives } from "./all_drives.tsx";

export function Drives({ project }: { project: string }) {
  const app = useApp();
  const { session } = app;
  const limitedTo = session.current.value?.drives ?? null;
  const mayList = session.may("list");
  const [drives, loadMore] = usePages(
    (api, from, signal): Promise<{ data?: Schemas["DriveList"] }> => {
      if (!mayList) return Promise.resolve({ data: { project_id: project, drives: [] } });
      const params = { path: { project_id: project }, query: from };
      return api.GET("/v1/{project_id}", { params, signal });
    },
    ({ drives }) => drives,
    [project],
  );
  useLive({ project }, drives.reload);
  const [query] = useQuery();
  const text = query.get("q") ?? "";
  // A key for one drive opens it even before it has files.
  const named = (limitedTo ?? []).map((drive_name) => ({ drive_name, files: null, bytes: null }));
  const isOffered = session.may("write") && limitedTo === null;
  const create = isOffered
    ? (
      <Button kind="primary" icon={Plus} onClick={() => createDrive(app, project)}>
        New drive
      </Button>
    )
    : undefined;
  return (
    <Page title="Files" {...(drives.data?.items.length && create ? { actions: create } : {})}>
      <Loaded from={drives}>
        {({ items, last }) => {
          const names = new Set(items.map(({ drive_name }) => drive_name));
          const all = [...items, ...named.filter(({ drive_name }) => !names.has(drive_name))];
          if (all.length === 0) {
            return (
              <Empty
                icon={HardDrive}
                title={mayList ? "No drives yet" : "This key may not list drives"}
                text={isOffered ? "A drive holds files and folders." : undefined}
              >
                {create}
                {isOffered && (
                  <Button onClick={() => app.router.go(links.firstDrive(project))}>
                    Upload files
                  </Button>
                )}
              </Empty>
            );
          }
          return (
            <div class="stack">
              {mayList && <FilterBar label="Search in all drives" />}
              {text !== "" && mayList
                ? <HitsOfDrives project={project} text={text} />
                : (
                  <ul class="drives">
                    {all.map((drive) => (
                      <DriveLink key={drive.drive_name} project={project} drive={drive} />
                    ))}
                  </ul>
                )}
              {text === "" && last !== undefined && <Button onClick={loadMore}>Show more</Button>}
            </div>
          );
        }}
      </Loaded>
    </Page>
  );
}

function DriveLink({ project, drive: { drive_name, files, bytes } }: {
  project: string;
  drive: Schemas["DriveList"]["drives"][number];
}) {
  const isKnown = files !== null && bytes !== null;
  return (
    <li>
      <a class="drive card line" href={links.folder(project, drive_name)}>
        <span class="empty-icon">
          <Icon of={HardDrive} size={22} />
        </span>
        <span class="drive-text">
          <strong>{drive_name}</strong>
          <span class="soft">
            {isKnown ? `${plural(files, "file")} · ${formatBytes(bytes)}` : "Open this drive"}
          </span>
        </span>
        <Icon of={ChevronRight} />
      </a>
    </li>
  );
}

async function createDrive(app: App, project: string): Promise<void> {
  const create = (name: string) =>
    app.api.POST("/v1/{project_id}/drives", {
      params: { path: { project_id: project } },
      body: { name },
    });
  const name = await askForText(app, {
    title: "New drive",
    submit: "Create drive",
    label: "Name",
    hint: "Such as “photos”.",
    autocapitalize: "off",
    spellcheck: false,
    problemOf,
  }, create);
  if (name !== undefined) app.router.go(links.folder(project, name));
}

/** Bytes of a drive's name at most. */
const MAX_NAME = 128;

/** Why a drive cannot have a name; empty if it can. */
export function problemOf(name: string): string {
  if (name.trim() === "") return "Enter a name";
  if (name.includes("/")) return "A name of a drive has no slashes";
  // deno-lint-ignore no-control-regex -- these are what is refused
  if (/[\x00-\x1f\x7f]/.test(name)) return "A name of a drive has no control characters";
  return new TextEncoder().encode(name).length > MAX_NAME ? "This name is too long" : "";
}

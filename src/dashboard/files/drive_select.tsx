import { HardDrive } from "lucide";
import type { JSX } from "preact";
import { useApp } from "../core/context.ts";
import { links, type Section } from "../core/links.ts";
import { useDrives } from "../projects/use_project.ts";
import { SelectField } from "../ui/field.tsx";
import { Empty, Loaded } from "../ui/loaded.tsx";

/** Shows a section for one drive of the project, and a choice where there are several. */
export function DriveSelect({ project, drive, section, children }: {
  project: string;
  /** The drive in the address; empty for the first one. */
  drive: string;
  section: Section;
  children: (drive: string) => JSX.Element;
}) {
  const { router } = useApp();
  const [drives] = useDrives(project);
  return (
    <Loaded from={drives}>
      {({ items }) => {
        const names = items.map(({ drive_name }) => drive_name);
        const [first] = names;
        if (first === undefined) {
          return <Empty icon={HardDrive} title="No drives yet" text="Upload a file to make one." />;
        }
        const chosen = drive === "" ? first : drive;
        return (
          <div class="stack">
            {names.length === 1 && names.includes(chosen) ? null : (
              <div class="drive-select">
                <SelectField
                  label="Drive"
                  value={chosen}
                  options={[...new Set([chosen, ...names])].sort().map((name) =>
                    [name, name] as const
                  )}
                  onChange={(name) => router.go(links.section(project, section, [name]))}
                />
              </div>
            )}
            {children(chosen)}
          </div>
        );
      }}
    </Loaded>
  );
}

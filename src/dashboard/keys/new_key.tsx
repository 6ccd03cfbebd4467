import { useState } from "preact/hooks";
import type { Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import type { Permission } from "../core/session.ts";
import { useDrives } from "../projects/use_project.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { Checkbox, SelectField, TextField, useText } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PERMISSIONS } from "./rights.tsx";

/** What a new key may do unless the user chooses more. */
const LEAST: readonly Permission[] = ["read", "list"];

const DAY = 86_400;

const LIFETIMES = [
  ["never", "Never"],
  [`${DAY}`, "In 1 day"],
  [`${30 * DAY}`, "In 30 days"],
  [`${90 * DAY}`, "In 90 days"],
  [`${365 * DAY}`, "In 1 year"],
] as const;

type WantedKey = Schemas["CreateProjectKeyRequest"];

/** The form for a new key of a project, or a new S3 key. It begins with the least rights that are of use. */
export function NewKey<T>({ project, title, create, onClose }: {
  project: string;
  title: string;
  create: (wanted: WantedKey) => Promise<T>;
  onClose: (made?: T) => void;
}) {
  const { session } = useApp();
  const may = session.current.value?.permissions ?? [];
  const name = useText();
  const [permissions, setPermissions] = useState<ReadonlySet<Permission>>(
    new Set(LEAST.filter((permission) => may.includes(permission))),
  );
  const [drives, setDrives] = useState<readonly string[] | null>(
    session.current.value?.drives ?? null,
  );
  const prefix = useText();
  const [lifetime, setLifetime] = useState<(typeof LIFETIMES)[number][0]>("never");
  const submit = async () => {
    if (permissions.size === 0) throw new Error("Choose what the key may do");
    if (drives?.length === 0) throw new Error("Choose the drives of the key, or all drives");
    const wanted = {
      ...(name.value.trim() === "" ? {} : { name: name.value.trim() }),
      permissions: PERMISSIONS.map(([permission]) => permission).filter((permission) =>
        permissions.has(permission)
      ),
      drives: drives === null ? null : [...drives],
      name_prefix: prefix.value === "" ? session.current.value?.name_prefix ?? null : prefix.value,
      expires_in: lifetime === "never" ? null : Number(lifetime),
    };
    onClose(await create(wanted));
  };
  return (
    <FormDialog
      title={title}
      submit="Create key"
      onClose={onClose}
      onSubmit={submit}
    >
      <TextField label="Name" hint="What it is for, such as “Nightly backup”." {...name} />
      <fieldset class="choices">
        <legend class="field-label">The key may</legend>
        {PERMISSIONS.map(([permission, label, hint]) => (
          <Checkbox
            key={permission}
            label={label}
            hint={hint}
            checked={permissions.has(permission)}
            disabled={!may.includes(permission)}
            onChange={(isOn) => setPermissions(toggled(permissions, permission, isOn))}
          />
        ))}
      </fieldset>
      <DriveChoice project={project} chosen={drives} onChange={setDrives} />
      <TextField
        label="Only names that begin with"
        hint="Such as reports/2026/. Empty for all names."
        {...prefix}
        spellcheck={false}
      />
      <SelectField label="Expires" value={lifetime} options={LIFETIMES} onChange={setLifetime} />
    </FormDialog>
  );
}

/** The choice of all drives of the project, or of some from a list. */
function DriveChoice({ project, chosen, onChange }: {
  project: string;
  /** `null` for all drives. */
  chosen: readonly string[] | null;
  onChange: (drives: readonly string[] | null) => void;
}) {
  const { session } = useApp();
  const own = session.current.value?.drives ?? null;
  const [drives, loadMore] = useDrives(project);
  return (
    <>
      <SelectField
        label="Drives"
        value={chosen === null || chosen === own ? "all" : "some"}
        options={[["all", own === null ? "All drives" : "All drives of this key"], [
          "some",
          "Only chosen drives",
        ]]}
        onChange={(value) => onChange(value === "all" ? own : [])}
      />
      {chosen === null || chosen === own ? null : (
        <fieldset class="choices choice-list frame">
          <legend class="visually-hidden">Chosen drives</legend>
          <Loaded from={drives}>
            {({ items, last }) => (
              <>
                {items.length === 0 && <p class="soft">No drives yet</p>}
                {items.map(({ drive_name }) => (
                  <Checkbox
                    key={drive_name}
                    label={drive_name}
                    checked={chosen.includes(drive_name)}
                    onChange={(isOn) => onChange([...toggled(new Set(chosen), drive_name, isOn)])}
                  />
                ))}
                {last !== undefined && <Button onClick={loadMore}>Show more</Button>}
              </>
            )}
          </Loaded>
        </fieldset>
      )}
    </>
  );
}

/** Returns a set with or without an element. */
function toggled<T>(set: ReadonlySet<T>, element: T, isOn: boolean): Set<T> {
  return isOn ? new Set([...set, element]) : new Set([...set].filter((one) => one !== element));
}

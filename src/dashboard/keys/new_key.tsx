import type { Schemas } from "../core/api.ts";
import { type App, useApp } from "../core/context.ts";
import type { Permission } from "../core/session.ts";
import { useResource } from "../core/resource.ts";
import { driveNames } from "../files/drive_filter.tsx";
import { Checkbox, SelectField } from "../ui/field.tsx";
import { askForm } from "../ui/form.tsx";
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

/** Asks for a new key of a project, or a new S3 key. It begins with the least rights that are of use. */
export async function askForKey<T>(
  app: App,
  project: string,
  { title, create }: { title: string; create: (wanted: WantedKey) => Promise<T> },
): Promise<T | undefined> {
  const { permissions: may = [], drives = null, name_prefix = null } = app.session.current.value ??
    {};
  return await askForm(app, {
    title,
    submit: "Create key",
    initial: {
      name: "",
      permissions: LEAST.filter((permission) => may.includes(permission)),
      drives: drives as readonly string[] | null,
      prefix: "",
      lifetime: "never" as (typeof LIFETIMES)[number][0],
    },
    fields: {
      name: { label: "Name", hint: "What it is for, such as “Nightly backup”." },
      permissions: {
        control: (chosen, onChange) => <PermissionChoice {...{ may, chosen, onChange }} />,
      },
      drives: {
        control: (chosen, onChange) => <DriveChoice {...{ project, chosen, onChange }} />,
      },
      prefix: {
        label: "Only names that begin with",
        hint: "Such as reports/2026/. Empty for all names.",
        spellcheck: false,
      },
      lifetime: { label: "Expires", options: LIFETIMES },
    },
    send: ({ name, permissions, drives, prefix, lifetime }) => {
      if (permissions.length === 0) throw new Error("Choose what the key may do");
      if (drives?.length === 0) throw new Error("Choose the drives of the key, or all drives");
      return create({
        name: name.trim() || null,
        permissions,
        drives: drives && [...drives],
        name_prefix: prefix || name_prefix,
        expires_in: lifetime === "never" ? null : Number(lifetime),
      });
    },
  });
}

function PermissionChoice({ may, chosen, onChange }: {
  may: readonly Permission[];
  chosen: readonly Permission[];
  onChange: (permissions: Permission[]) => void;
}) {
  const order = PERMISSIONS.map(([permission]) => permission);
  return (
    <fieldset class="choices stack">
      <legend class="field-label">The key may</legend>
      {PERMISSIONS.map(([permission, label, hint]) => (
        <Checkbox
          key={permission}
          label={label}
          hint={hint}
          checked={chosen.includes(permission)}
          disabled={!may.includes(permission)}
          onChange={(isOn) => {
            const wanted = toggled(chosen, permission, isOn);
            onChange(order.filter((one) => wanted.includes(one)));
          }}
        />
      ))}
    </fieldset>
  );
}

/** The choice of all drives of the project, or of some from a list. */
function DriveChoice({ project, chosen, onChange }: {
  project: string;
  /** `null` for all drives. */
  chosen: readonly string[] | null;
  onChange: (drives: readonly string[] | null) => void;
}) {
  const { api, session } = useApp();
  const own = session.current.value?.drives ?? null;
  const isAll = chosen === null || chosen === own;
  const drives = useResource((signal) => driveNames(api, project, signal), [project]);
  return (
    <>
      <SelectField
        label="Drives"
        value={isAll ? "all" : "some"}
        options={[
          ["all", own === null ? "All drives" : "All drives of this key"],
          ["some", "Only chosen drives"],
        ]}
        onChange={(value) => onChange(value === "all" ? own : [])}
      />
      {!isAll && (
        <fieldset class="choices choice-list frame stack">
          <legend class="visually-hidden">Chosen drives</legend>
          <Loaded from={drives}>
            {(names) => (
              <>
                {names.length === 0 && <p class="soft">No drives yet</p>}
                {names.map((name) => (
                  <Checkbox
                    key={name}
                    label={name}
                    checked={chosen.includes(name)}
                    onChange={(isOn) => onChange(toggled(chosen, name, isOn))}
                  />
                ))}
              </>
            )}
          </Loaded>
        </fieldset>
      )}
    </>
  );
}

/** Returns a list with or without an element. */
function toggled<T>(list: readonly T[], element: T, isOn: boolean): T[] {
  const others = list.filter((one) => one !== element);
  return isOn ? [...others, element] : others;
}

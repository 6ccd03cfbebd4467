import { useState } from "preact/hooks";
import type { Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import type { Permission } from "../core/session.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { Checkbox, SelectField, TextField, useText } from "../ui/field.tsx";
import { PERMISSIONS } from "./rights.tsx";

const DAY = 86_400;

const LIFETIMES = [
  ["never", "Never"],
  [`${DAY}`, "In 1 day"],
  [`${30 * DAY}`, "In 30 days"],
  [`${90 * DAY}`, "In 90 days"],
  [`${365 * DAY}`, "In 1 year"],
] as const;

type WantedKey = Schemas["CreateProjectKeyRequest"];

/** The form for a new key of a project, or a new S3 key. */
export function NewKey<T>({ title, create, onClose }: {
  title: string;
  create: (wanted: WantedKey) => Promise<T>;
  onClose: (made?: T) => void;
}) {
  const { session } = useApp();
  const may = session.current.value?.permissions ?? [];
  const name = useText();
  const [permissions, setPermissions] = useState<ReadonlySet<Permission>>(new Set(may));
  const drives = useText();
  const prefix = useText();
  const [lifetime, setLifetime] = useState<(typeof LIFETIMES)[number][0]>("never");
  const toggle = (permission: Permission, isOn: boolean) => {
    const next = new Set(permissions);
    if (isOn) next.add(permission);
    else next.delete(permission);
    setPermissions(next);
  };
  const submit = async () => {
    if (permissions.size === 0) throw new Error("Choose what the key may do");
    const named = drives.value.split(",").map((drive) => drive.trim()).filter(Boolean);
    const wanted = {
      ...(name.value.trim() === "" ? {} : { name: name.value.trim() }),
      permissions: PERMISSIONS.map(([permission]) => permission).filter((permission) =>
        permissions.has(permission)
      ),
      drives: named.length === 0 ? session.current.value?.drives ?? null : named,
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
            onChange={(isOn) => toggle(permission, isOn)}
          />
        ))}
      </fieldset>
      <TextField
        label="Only in these drives"
        hint="Separated by commas. Empty for all drives."
        {...drives}
        spellcheck={false}
      />
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

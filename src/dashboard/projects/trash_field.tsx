import { useState } from "preact/hooks";
import { Checkbox, TextField } from "../ui/field.tsx";

/** The most days that the trash may keep files. */
export const MAX_TRASH_DAYS = 365;
/** The days that are proposed. */
const USUAL_DAYS = 30;

/** The days of the trash as a form has them: off, or a number as a text. */
export interface TrashDays {
  isOn: boolean;
  text: string;
}

export function useTrashDays(): [TrashDays, (days: TrashDays) => void] {
  return useState<TrashDays>({ isOn: true, text: String(USUAL_DAYS) });
}

/** Returns the days that were entered, 0 for no trash; `undefined` if the text is no number of days. */
export function daysOf({ isOn, text }: TrashDays): number | undefined {
  if (!isOn) return 0;
  const days = /^\d{1,3}$/.test(text.trim()) ? Number(text) : 0;
  return days >= 1 && days <= MAX_TRASH_DAYS ? days : undefined;
}

/** A switch for the trash, with the days that it keeps files. */
export function TrashField({ value, onChange }: {
  value: TrashDays;
  onChange: (value: TrashDays) => void;
}) {
  return (
    <>
      <Checkbox
        label="Trash"
        hint={value.isOn
          ? "What is deleted or overwritten can be restored. Until then it takes space."
          : "What is deleted or overwritten is gone."}
        checked={value.isOn}
        onChange={(isOn) => onChange({ ...value, isOn })}
      />
      {value.isOn && (
        <TextField
          label="Days to keep deleted files"
          inputMode="numeric"
          value={value.text}
          problem={daysOf(value) === undefined
            ? `Enter a whole number from 1 to ${MAX_TRASH_DAYS}`
            : undefined}
          onInput={(text) => onChange({ ...value, text })}
        />
      )}
    </>
  );
}

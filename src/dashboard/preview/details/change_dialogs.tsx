import { useState } from "preact/hooks";
import type { App } from "../../core/context.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import type { Change } from "./file_details.tsx";

/** Seconds. */
export const DAY = 86_400;

type OnChange = (change: Change) => Promise<void>;

/** Asks on which date a file expires. */
export async function askForDate(
  { overlays }: App,
  expires: string | undefined,
  onChange: OnChange,
): Promise<void> {
  await overlays.show((close) => (
    <ValueDialog
      title="Expires on a date"
      label="Date and time"
      type="datetime-local"
      initial={localTime(expires === undefined ? Date.now() + DAY * 1000 : Date.parse(expires))}
      problemOf={(value) => {
        if (value === "") return "Choose a date";
        return Date.parse(value) > Date.now() ? undefined : "Choose a time that is still to come";
      }}
      onSubmit={(value) =>
        onChange({ expires_in: Math.ceil((Date.parse(value) - Date.now()) / 1000) })}
      onClose={() => close()}
    />
  ));
}

/** Asks for the content type of a file. */
export async function askForType(
  { overlays }: App,
  initial: string,
  onChange: OnChange,
): Promise<void> {
  await overlays.show((close) => (
    <ValueDialog
      title="Change the content type"
      label="Content type"
      type="text"
      hint="Browsers and programs treat the file as this, such as image/png or text/plain."
      initial={initial}
      problemOf={(value) =>
        /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(;.*)?$/.test(value)
          ? undefined
          : "A content type looks like image/png"}
      onSubmit={(content_type) => onChange({ content_type })}
      onClose={() => close()}
    />
  ));
}

function ValueDialog({ title, label, type, hint, initial, problemOf, onSubmit, onClose }: {
  title: string;
  label: string;
  type: "text" | "datetime-local";
  hint?: string;
  initial: string;
  problemOf: (value: string) => string | undefined;
  onSubmit: (value: string) => Promise<void>;
  onClose: () => void;
}) {
  const [value, setValue] = useState(initial);
  const [problem, setProblem] = useState<string>();
  const submit = async () => {
    const found = problemOf(value.trim());
    setProblem(found);
    if (found !== undefined) return;
    await onSubmit(value.trim());
    onClose();
  };
  return (
    <FormDialog title={title} submit="Change" size="small" onClose={onClose} onSubmit={submit}>
      <TextField
        {...{ label, type, hint, value, problem }}
        spellcheck={false}
        autocomplete="off"
        onInput={setValue}
      />
    </FormDialog>
  );
}

/** Returns a moment as a field for dates has it, in the time zone of the browser. */
function localTime(moment: number): string {
  const date = new Date(moment);
  const shifted = new Date(moment - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

import type { App } from "../../core/context.ts";
import { askForText } from "../../ui/dialog.tsx";
import type { Change } from "./file_details.tsx";

/** Seconds. */
export const DAY = 86_400;

type OnChange = (change: Change) => Promise<void>;

/** Asks on which date a file expires. */
export async function askForDate(
  app: App,
  expires: string | undefined,
  onChange: OnChange,
): Promise<void> {
  await askForText(app, {
    title: "Expires on a date",
    submit: "Change",
    label: "Date and time",
    type: "datetime-local",
    initial: localTime(expires === undefined ? Date.now() + DAY * 1000 : Date.parse(expires)),
    problemOf: (value) => {
      if (value === "") return "Choose a date";
      return Date.parse(value) > Date.now() ? undefined : "Choose a time that is still to come";
    },
  }, (value) => onChange({ expires_in: Math.ceil((Date.parse(value) - Date.now()) / 1000) }));
}

/** Asks for the content type of a file. */
export async function askForType(app: App, initial: string, onChange: OnChange): Promise<void> {
  await askForText(app, {
    title: "Change the content type",
    submit: "Change",
    label: "Content type",
    hint: "Browsers and programs treat the file as this, such as image/png or text/plain.",
    initial,
    spellcheck: false,
    problemOf: (value) =>
      /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(;.*)?$/.test(value.trim())
        ? undefined
        : "A content type looks like image/png",
  }, (value) => onChange({ content_type: value.trim() }));
}

/** Returns a moment as a field for dates has it, in the time zone of the browser. */
function localTime(moment: number): string {
  const date = new Date(moment);
  const shifted = new Date(moment - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

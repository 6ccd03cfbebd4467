import { useState } from "preact/hooks";
import { sentenceOf } from "../core/api_error.ts";
import { Button, useBusy } from "../ui/button.tsx";
import { type InputAttributes, TextField } from "../ui/field.tsx";

/** A field with the button that saves it. */
export function Setting<T>({ saved, initial, parse, invalid, onSave, ...field }: InputAttributes & {
  label: string;
  hint: string;
  /** The value that the server has. */
  saved: T;
  /** That value as a text. */
  initial: string;
  /** Returns the value of a text; `undefined` if it has none. */
  parse: (text: string) => T | undefined;
  /** What is wrong with a text without a value. */
  invalid?: string;
  /** What it throws is shown beside the field. */
  onSave: (value: T) => Promise<void>;
}) {
  const [text, setText] = useState(initial);
  const [refused, setRefused] = useState<{ text: string; reason: string }>();
  const value = parse(text);
  const isReady = value !== undefined && value !== saved;
  const [isBusy, save] = useBusy<Event>(async () => {
    if (!isReady) return;
    setRefused(undefined);
    await onSave(value);
  }, (error) => setRefused({ text, reason: sentenceOf(error) }));
  const refusal = refused?.text === text ? refused.reason : undefined;
  return (
    <form class="setting" onSubmit={save} noValidate>
      <TextField
        {...field}
        value={text}
        problem={value === undefined ? invalid : refusal}
        onInput={setText}
      />
      <Button type="submit" disabled={!isReady} aria-busy={isBusy || undefined}>Save</Button>
    </form>
  );
}

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { sentenceOf } from "../core/api_error.ts";
import { Button } from "../ui/button.tsx";

/** A field with the button that saves it. */
export function Setting({ value, isReady, onSave, children }: {
  /** What is in the field. */
  value: string;
  /** Whether the value can be saved, and is not the saved one. */
  isReady: boolean;
  onSave: () => Promise<void>;
  /** Shows the field. It gets why the server refused this value. */
  children: (refusal: string | undefined) => ComponentChildren;
}) {
  const [refused, setRefused] = useState<{ value: string; reason: string }>();
  const [isBusy, setBusy] = useState(false);
  const save = async (event: Event) => {
    event.preventDefault();
    if (!isReady || isBusy) return;
    setBusy(true);
    setRefused(undefined);
    try {
      await onSave();
    } catch (error) {
      setRefused({ value, reason: sentenceOf(error) });
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="setting" onSubmit={save} noValidate>
      {children(refused?.value === value ? refused.reason : undefined)}
      <Button type="submit" disabled={!isReady} aria-busy={isBusy || undefined}>Save</Button>
    </form>
  );
}

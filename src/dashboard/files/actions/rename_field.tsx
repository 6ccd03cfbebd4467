import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useApp } from "../../core/context.ts";
import { type Entry, labelOf } from "../entry.ts";
import type { FileActions } from "./file_actions.ts";
import { editedLength } from "./naming.ts";

/** The field in which a name is edited in its place. Enter keeps the new name, Escape the old one. */
export function RenameField({ entry, actions, onEnd }: {
  entry: Entry;
  actions: FileActions;
  /** Called when the field is gone, so that the list gets the focus back. */
  onEnd: () => void;
}) {
  const { toasts } = useApp();
  const input = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string>();
  // Synchronous, so that the next key press goes into the field.
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.setSelectionRange(0, editedLength(entry));
  }, []);
  const isCancelled = useRef(false);
  const cancel = () => {
    isCancelled.current = true;
    actions.endRenaming(entry);
    // At once, so that the next key press goes to the list.
    if (document.activeElement === input.current) {
      input.current?.closest<HTMLElement>("[role=row]")?.focus({ preventScroll: true });
    } else onEnd();
  };
  const isBusy = useRef(false);
  const submit = async (label: string, isLeaving = false) => {
    // A second Enter, or leaving the field after it.
    if (isBusy.current) return;
    isBusy.current = true;
    try {
      const problem = await actions.renameTo(entry, label, () => isCancelled.current);
      if (isCancelled.current) return;
      setProblem(problem);
      if (problem === undefined) onEnd();
      // The field is gone if another name is edited meanwhile.
      else if (isLeaving || input.current === null) throw new Error(problem);
    } catch (error) {
      toasts.error(error);
      cancel();
    } finally {
      isBusy.current = false;
    }
  };
  return (
    <span class="rename">
      <input
        ref={input}
        class="input"
        aria-label={`New name of ${labelOf(entry)}`}
        aria-invalid={problem === undefined ? undefined : true}
        defaultValue={labelOf(entry)}
        spellcheck={false}
        autocomplete="off"
        onClick={(event) => event.stopPropagation()}
        onDblClick={(event) => event.stopPropagation()}
        onBlur={(event) =>
          actions.renaming.value === entry.name && submit(event.currentTarget.value, true)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Escape") cancel();
          if (event.key === "Enter") void submit(event.currentTarget.value);
        }}
      />
      {problem === undefined ? null : <span class="rename-problem" role="alert">{problem}</span>}
    </span>
  );
}

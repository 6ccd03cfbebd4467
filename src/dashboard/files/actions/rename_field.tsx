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
  const cancel = () => {
    actions.renaming.value = undefined;
    onEnd();
  };
  const submit = async (label: string) => {
    try {
      const problem = await actions.renameTo(entry, label);
      setProblem(problem);
      if (problem === undefined) onEnd();
    } catch (error) {
      toasts.error(error);
      cancel();
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
          actions.renaming.value === entry.name && submit(event.currentTarget.value)}
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

import type { App } from "../../core/context.ts";
import { plural } from "../../core/format.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { labelOf } from "../entry.ts";

/** What happens to files whose target exists. */
export type ConflictChoice = "replace" | "both" | "skip";

/** Names that the question shows. */
const SHOWN = 5;

/** Asks once about all files whose target exists. Closing the dialog skips them. */
export async function askAboutConflicts(
  { overlays }: Pick<App, "overlays">,
  names: readonly string[],
): Promise<ConflictChoice> {
  const choice = await overlays.show<ConflictChoice>((close) => (
    <ConflictDialog names={names} onClose={close} />
  ));
  return choice ?? "skip";
}

function ConflictDialog({ names, onClose }: {
  names: readonly string[];
  onClose: (choice?: ConflictChoice) => void;
}) {
  const [first = ""] = names;
  const title = names.length === 1
    ? `“${labelOf({ name: first })}” exists already`
    : `${plural(names.length, "file")} exist already`;
  return (
    <Dialog
      title={title}
      size="small"
      onClose={onClose}
      footer={
        <>
          <Button data-begin onClick={() => onClose("skip")}>Skip</Button>
          <Button onClick={() => onClose("both")}>Keep both</Button>
          <Button kind="primary" onClick={() => onClose("replace")}>Replace</Button>
        </>
      }
    >
      <div class="prose">
        {names.length === 1 ? null : (
          <ul class="name-list">
            {names.slice(0, SHOWN).map((name) => <li key={name}>{name}</li>)}
            {names.length > SHOWN ? <li>and {names.length - SHOWN} more</li> : null}
          </ul>
        )}
        <p>Replace what is there, keep both under different names, or skip?</p>
      </div>
    </Dialog>
  );
}

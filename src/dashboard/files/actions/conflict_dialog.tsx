import { useState } from "preact/hooks";
import type { App } from "../../core/context.ts";
import { plural } from "../../core/format.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { labelOf, shownName } from "../entry.ts";

/** What happens to a file whose target exists. */
export type ConflictChoice = "replace" | "both" | "skip";

interface Answer {
  choice: ConflictChoice;
  isForAll: boolean;
}

/** Names that the question shows. */
const SHOWN = 5;

/**
 * Asks about files whose target exists: once about all of them, or one by one if the user wants that. Returns a choice
 * for each name. Closing the dialog skips those that are left.
 */
export async function askAboutConflicts(
  { overlays }: Pick<App, "overlays">,
  names: readonly string[],
): Promise<ConflictChoice[]> {
  const choices: ConflictChoice[] = [];
  while (choices.length < names.length) {
    const left = names.slice(choices.length);
    const answer = await overlays.show<Answer>((close) => (
      <ConflictDialog
        key={left.length}
        names={left}
        isFirst={choices.length === 0}
        onClose={close}
      />
    ));
    const { choice, isForAll } = answer ?? { choice: "skip", isForAll: true };
    choices.push(...isForAll ? left.map(() => choice) : [choice]);
  }
  return choices;
}

function ConflictDialog({ names, isFirst, onClose }: {
  names: readonly string[];
  isFirst: boolean;
  onClose: (answer?: Answer) => void;
}) {
  const [first = ""] = names;
  const [isForAll, setForAll] = useState(isFirst || names.length === 1);
  const asksAboutAll = isForAll && names.length > 1;
  const title = asksAboutAll
    ? `${plural(names.length, "file")} exist already`
    : `“${shownName(labelOf({ name: first }))}” exists already`;
  const answer = (choice: ConflictChoice) => onClose({ choice, isForAll });
  return (
    <Dialog
      title={title}
      size="small"
      onClose={() => onClose()}
      footer={
        <>
          <Button onClick={() => answer("skip")}>Skip</Button>
          <Button onClick={() => answer("both")}>Keep both</Button>
          <Button kind="primary" onClick={() => answer("replace")}>Replace</Button>
        </>
      }
    >
      <div class="prose stack">
        {asksAboutAll && (
          <ul class="name-list">
            {names.slice(0, SHOWN).map((name) => <li key={name}>{shownName(name)}</li>)}
            {names.length > SHOWN ? <li>and {names.length - SHOWN} more</li> : null}
          </ul>
        )}
        <p>Replace what is there, keep both under different names, or skip?</p>
      </div>
      {names.length > 1 && (
        <Checkbox
          label={`Do this for all ${plural(names.length, "file")}`}
          checked={isForAll}
          onChange={setForAll}
        />
      )}
    </Dialog>
  );
}

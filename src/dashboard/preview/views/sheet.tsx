import { ChevronDown } from "lucide";
import type { ComponentChildren } from "preact";
import { formatBytes } from "../../core/format.ts";
import { Button } from "../../ui/button.tsx";
import type { Beginning } from "../content/beginning.ts";

/** A surface with a text, what is known of it above, and the way to more of it below. */
export function Sheet({ facts, tools, children, beginning, onMore }: {
  facts: readonly string[];
  tools?: ComponentChildren;
  children: ComponentChildren;
  /** The part of the file that was read, if there may be more to read. */
  beginning?: Beginning;
  /** Shows more of what was read already. */
  onMore?: (() => void) | undefined;
}) {
  const isWhole = beginning === undefined || beginning.bytes.length >= beginning.total;
  const next = onMore ?? beginning?.more;
  return (
    <div class="preview-sheet preview-surface">
      <div class="sheet-bar row">
        <p class="soft">{facts.filter(Boolean).join(" · ")}</p>
        {tools}
      </div>
      {children}
      {isWhole && onMore === undefined ? null : (
        <div class="sheet-foot row">
          <p class="soft">
            {isWhole
              ? "There is more."
              : `The first ${formatBytes(beginning.bytes.length)} of ${
                formatBytes(beginning.total)
              }.`}
          </p>
          {next === undefined
            ? <p class="soft">Download the file to see all of it.</p>
            : <Button icon={ChevronDown} onClick={next}>Show more</Button>}
        </div>
      )}
    </div>
  );
}

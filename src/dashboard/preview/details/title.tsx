import { type Entry, shownName } from "../../files/entry.ts";
import { Picture } from "../../files/view/kind_icon.tsx";

export function Title({ entry, label }: { entry: Entry; label: string }) {
  return (
    <div class="details-title stack">
      <Picture entry={entry} size={56} />
      <p>
        <bdi>{shownName(label)}</bdi>
      </p>
    </div>
  );
}

import {
  CircleAlert,
  CircleCheck,
  File,
  FolderOpen,
  type IconNode,
  Pause,
  Play,
  RefreshCw,
  X,
} from "lucide";
import { useLayoutEffect, useRef } from "preact/hooks";
import { links } from "../core/links.ts";
import { folderOf, labelOf } from "../files/entry.ts";
import { formatNumber } from "../core/format.ts";
import { IconButton } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { chooseFiles } from "./chosen_files.ts";
import { keyOf } from "./upload/records.ts";
import { detailsOf } from "./totals.ts";
import { useSharedTransfers } from "./transfers.ts";
import type { UploadState, UploadTask } from "./upload/upload_task.ts";

/** What needs the user stands first, then what runs. */
const ORDER: readonly (readonly UploadState[])[] = [
  ["failed", "interrupted"],
  ["running", "paused"],
  ["waiting"],
  ["done"],
];

const ICONS: Partial<Record<UploadState, IconNode>> = {
  failed: CircleAlert,
  interrupted: CircleAlert,
  paused: Pause,
  done: CircleCheck,
};

/** The uploads of this page, one row each. Of many it shows some, and the number of the others. */
export function UploadRows({ max }: { max: number }) {
  const transfers = useSharedTransfers();
  const list = useRef<HTMLUListElement>(null);
  const focused = useRef<Element | null>(null);
  const { tasks } = transfers;
  const shown: UploadTask[] = [];
  for (const states of ORDER) {
    for (const task of tasks) {
      if (shown.length === max) break;
      if (states.includes(task.state)) shown.push(task);
    }
  }
  useLayoutEffect(() => {
    // A row that moved, or lost its button, keeps the focus in the list.
    if (focused.current === null || document.activeElement !== document.body) return;
    const element = focused.current.isConnected ? focused.current : list.current;
    if (element instanceof HTMLElement) element.focus();
  });
  return (
    <>
      <ul
        ref={list}
        class="upload-rows"
        aria-label="Uploads of this tab"
        tabIndex={-1}
        onFocusIn={(event) => focused.current = event.target as Element}
        onFocusOut={(event) => event.relatedTarget !== null && (focused.current = null)}
        onPointerDown={() => focused.current = null}
      >
        {shown.map((task) => <Row key={keyOf(task.record)} task={task} />)}
      </ul>
      {tasks.length > shown.length && (
        <p class="upload-more">and {formatNumber(tasks.length - shown.length)} more</p>
      )}
    </>
  );
}

function Row({ task }: { task: UploadTask }) {
  const { record: { project, drive, name, size }, state, sent } = task;
  const label = labelOf({ name });
  const isOpen = state === "running" || state === "paused" || state === "waiting";
  return (
    <li class="upload-row line" data-state={state}>
      <Icon of={ICONS[state] ?? File} />
      <div class="upload-text">
        <a
          class="upload-name ellipsis"
          href={links.folder(project, drive, folderOf({ name }))}
          title={`${drive}/${name}`}
        >
          {label}
        </a>
        <span class="upload-details" title={task.message}>{detailsOf(task)}</span>
        {isOpen && (
          <progress
            aria-label={`Progress of ${label}`}
            max={Math.max(size, 1)}
            value={sent}
          />
        )}
      </div>
      <Actions task={task} label={label} />
    </li>
  );
}

function Actions({ task, label }: { task: UploadTask; label: string }) {
  const transfers = useSharedTransfers();
  const { state } = task;
  if (state === "done") return null;
  const choose = async () => {
    const [item] = await chooseFiles({ isMultiple: false });
    if (item !== undefined) transfers.resumeWith(task, item.file);
  };
  const actions: Partial<Record<UploadState, [IconNode, string, () => unknown]>> = {
    waiting: [Pause, "Pause", () => transfers.pause([task])],
    running: [Pause, "Pause", () => transfers.pause([task])],
    paused: [Play, "Resume", () => transfers.resume([task])],
    failed: [RefreshCw, "Retry", () => transfers.resume([task])],
    interrupted: [FolderOpen, "Choose the file of", choose],
  };
  const action = actions[state];
  return (
    <>
      {action === undefined
        ? null
        : <IconButton icon={action[0]} label={`${action[1]} ${label}`} onClick={action[2]} />}
      <IconButton icon={X} label={`Cancel ${label}`} onClick={() => transfers.cancel([task])} />
    </>
  );
}

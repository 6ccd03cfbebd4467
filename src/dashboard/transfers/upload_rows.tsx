import {
  CircleAlert,
  CircleCheck,
  File,
  Folder,
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
import { detailsOf, folderDetailsOf, totalsOf } from "./totals.ts";
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
  const rows = rowsOf(tasks);
  const shown = rows.slice(0, max);
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
        {shown.map((row) =>
          row.length === 1 && row[0] !== undefined
            ? <Row key={keyOf(row[0].record)} task={row[0]} />
            : <FolderRow key={`folder ${folderKey(row[0])}`} tasks={row} />
        )}
      </ul>
      {rows.length > shown.length && (
        <p class="upload-more soft">and {formatNumber(rows.length - shown.length)} more</p>
      )}
    </>
  );
}

function folderKey(task: UploadTask | undefined): string {
  const { project, drive, folder } = task?.record ?? {};
  return JSON.stringify([project, drive, folder]);
}

/** The rows: what failed for itself, and the other files of a folder together. What needs the user stands first. */
function rowsOf(tasks: readonly UploadTask[]): UploadTask[][] {
  const folders = new Map<string, UploadTask[]>();
  const rows: UploadTask[][] = [];
  for (const states of ORDER) {
    for (const task of tasks) {
      if (!states.includes(task.state)) continue;
      if (task.record.folder === undefined || task.state === "failed") {
        rows.push([task]);
        continue;
      }
      const key = folderKey(task);
      const row = folders.get(key);
      if (row !== undefined) row.push(task);
      else {
        const first = [task];
        folders.set(key, first);
        rows.push(first);
      }
    }
  }
  return rows;
}

/** A folder that was chosen or dropped, with all of its files. */
function FolderRow({ tasks }: { tasks: readonly UploadTask[] }) {
  const transfers = useSharedTransfers();
  const [first] = tasks;
  if (first === undefined) return null;
  const { project, drive, folder = "" } = first.record;
  const label = labelOf({ name: folder });
  const { count, bytes, sent } = totalsOf(tasks);
  const isActive = count.waiting + count.running > 0;
  const isDone = count.done === tasks.length;
  return (
    <li class="upload-row line" data-state={isDone ? "done" : "running"}>
      <Icon of={isDone ? CircleCheck : Folder} />
      <div class="upload-text">
        <a
          class="upload-name ellipsis"
          href={links.folder(project, drive, folder)}
          title={`${drive}/${folder}`}
        >
          {label}
        </a>
        <span class="upload-details">{folderDetailsOf(tasks)}</span>
        {!isDone && (
          <progress aria-label={`Progress of ${label}`} max={Math.max(bytes, 1)} value={sent} />
        )}
      </div>
      {isActive && (
        <IconButton
          icon={Pause}
          label={`Pause ${label}`}
          onClick={() => transfers.pause(tasks)}
        />
      )}
      {!isActive && count.paused > 0 && (
        <IconButton
          icon={Play}
          label={`Resume ${label}`}
          onClick={() => transfers.resume(tasks)}
        />
      )}
      {!isDone && (
        <IconButton
          icon={X}
          label={`Cancel ${label}`}
          onClick={() => transfers.cancel(tasks)}
        />
      )}
    </li>
  );
}

function Row({ task }: { task: UploadTask }) {
  const { record: { project, drive, name, size }, state, sent } = task;
  const label = labelOf({ name });
  const isOpen = state === "running" || state === "paused" || state === "waiting" ||
    state === "interrupted" && sent > 0;
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

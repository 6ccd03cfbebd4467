import { ChevronRight, Folder, FolderPlus, HardDrive } from "lucide";
import { useState } from "preact/hooks";
import { type App, useApp } from "../../core/context.ts";
import { useResource } from "../../core/resource.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { askForText } from "../../ui/form.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { driveNames } from "../drive_filter.tsx";
import { type Entry, folderOf, labelOf, type Place } from "../entry.ts";
import { DriveFiles, type Target } from "./drive_files.ts";
import { labelProblem, mayGoTo } from "./naming.ts";

interface Question {
  title: string;
  /** The label of the button. */
  action: string;
  isMove: boolean;
  entries: readonly Entry[];
}

/** Asks for a folder of the project, in a tree of its drives. */
export async function chooseTarget(
  { overlays }: Pick<App, "overlays">,
  place: Place,
  question: Question,
): Promise<Target | undefined> {
  return await overlays.show<Target>((close) => (
    <TargetDialog place={place} question={question} onClose={close} />
  ));
}

function TargetDialog({ place, question, onClose }: {
  place: Place;
  question: Question;
  onClose: (target?: Target) => void;
}) {
  const app = useApp();
  const { project } = place;
  const [target, setTarget] = useState<Target>({ drive: place.drive, path: place.path });
  const [version, setVersion] = useState(0);
  const drives = useResource((signal) => driveNames(app.api, project, signal), [project]);
  // Copies beside what is copied get other names; a move to where it is would do nothing.
  const isThere = question.isMove && target.drive === place.drive &&
    question.entries.every((entry) => folderOf(entry) === target.path);
  const create = async () => {
    const files = new DriveFiles(app.api, { project, drive: target.drive });
    const created = await askForFolder(app, files, target.path);
    if (created === undefined) return;
    setVersion(version + 1);
    setTarget({ drive: target.drive, path: created });
  };
  return (
    <Dialog
      title={question.title}
      onClose={onClose}
      isForm
      footer={
        <>
          <Button kind="quiet" icon={FolderPlus} class="push" onClick={create}>New folder</Button>
          <Button onClick={() => onClose()}>Cancel</Button>
          <Button kind="primary" disabled={isThere} onClick={() => onClose(target)}>
            {question.action} here
          </Button>
        </>
      }
    >
      <Loaded from={drives}>
        {(names) => (
          <ul class="tree" aria-label="Folders">
            {names.map((drive) => (
              <Branch
                key={`${drive}/${version}`}
                node={{ drive, path: "" }}
                {...{ project, target, question, from: place }}
                onChoose={setTarget}
              />
            ))}
          </ul>
        )}
      </Loaded>
    </Dialog>
  );
}

interface BranchProps {
  project: string;
  node: Target;
  target: Target;
  from: Place;
  question: Question;
  onChoose: (target: Target) => void;
}

/** A drive or folder of the tree. What is chosen first is open. */
function Branch(branch: BranchProps) {
  const { node, target, from, question, onChoose } = branch;
  const leadsTo = ({ drive, path }: Target) => node.drive === drive && path.startsWith(node.path);
  const [isOpen, setOpen] = useState(leadsTo(from) || leadsTo(target));
  const isChosen = node.drive === target.drive && node.path === target.path;
  const mayChoose = node.drive !== from.drive ||
    question.entries.every((entry) => mayGoTo(entry, node.path));
  const label = node.path === "" ? node.drive : labelOf({ name: node.path });
  const move = (event: KeyboardEvent) => {
    if (event.key === "ArrowRight") setOpen(true);
    else if (event.key === "ArrowLeft") setOpen(false);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") focusNext(event);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <li>
      <div class="tree-row">
        <button
          type="button"
          class="tree-toggle"
          tabIndex={-1}
          aria-label={`Folders in ${label}`}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon of={ChevronRight} size={16} />
        </button>
        <button
          type="button"
          class="tree-label line"
          aria-pressed={isChosen}
          disabled={!mayChoose}
          onClick={() => onChoose(node)}
          onDblClick={() => setOpen(true)}
          onKeyDown={move}
        >
          <Icon of={node.path === "" ? HardDrive : Folder} />
          <span>{label}</span>
        </button>
      </div>
      {isOpen && mayChoose && <Branches {...branch} />}
    </li>
  );
}

function Branches(branch: BranchProps) {
  const { project, node } = branch;
  const { api } = useApp();
  const folders = useResource(
    (signal) => new DriveFiles(api, { project, drive: node.drive }).foldersIn(node.path, signal),
    [project, node.drive, node.path],
  );
  return (
    <Loaded from={folders} skeleton={<p class="tree-loading soft">Loading…</p>}>
      {(paths) =>
        paths.length === 0 ? null : (
          <ul>
            {paths.map((path) => (
              <Branch key={path} {...branch} node={{ drive: node.drive, path }} />
            ))}
          </ul>
        )}
    </Loaded>
  );
}

/** Asks for a name, and creates a folder below a path. Returns its whole name. */
export async function askForFolder(
  app: Pick<App, "overlays">,
  files: DriveFiles,
  path: string,
): Promise<string | undefined> {
  const label = await askForText(app, {
    title: "New folder",
    submit: "Create",
    label: "Name",
    problemOf: (label) => labelProblem(label, (label) => files.isTaken(path + label)),
  }, (label) => files.createFolder(`${path}${label}/`));
  return label === undefined ? undefined : `${path}${label}/`;
}

/** Moves the focus to the next or previous row of the tree. */
function focusNext(event: KeyboardEvent): void {
  const row = event.currentTarget as HTMLElement;
  const rows = [...row.closest(".tree")?.querySelectorAll<HTMLElement>(".tree-label") ?? []];
  rows[rows.indexOf(row) + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
}

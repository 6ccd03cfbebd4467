import { useState } from "preact/hooks";
import { dataOf, type Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { formatBytes, formatDate, formatNumber, plural } from "../core/format.ts";
import { links } from "../core/links.ts";
import type { Resource } from "../core/resource.ts";
import { deleteProject } from "../projects/projects.tsx";
import { parseSize, SizeField, sizeProblem, sizeText } from "../projects/size_field.tsx";
import { useProject } from "../projects/use_project.ts";
import { Button } from "../ui/button.tsx";
import { confirm } from "../ui/dialog.tsx";
import { Facts } from "../ui/facts.tsx";
import { TextField } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Page, Section } from "../ui/page.tsx";
import { RemoveButton } from "../ui/remove_button.tsx";
import { Table } from "../ui/table.tsx";
import { Setting } from "./setting.tsx";

type Project = Schemas["ProjectDetails"];
type Change = Schemas["ChangeProjectRequest"];

/** The most days that the trash may keep files. */
const MAX_TRASH_DAYS = 365;

/** The settings of a project. */
export function Settings({ project }: { project: string }) {
  const app = useApp();
  const resource = useProject(project);
  return (
    <Page title="Settings">
      <Loaded from={resource}>
        {(info) => (
          <div class="sections">
            <Section title="Project">
              <Facts
                facts={[
                  ["Name", info.name ?? "—"],
                  ["Id", info.project_id],
                  ["Created", formatDate(info.created)],
                ]}
              />
            </Section>
            <TrashSettings {...{ info, resource }} />
            <Drives {...{ info, resource }} />
            {app.session.isAdministrator && (
              <>
                <QuotaSettings {...{ info, resource }} />
                <DomainSettings {...{ info, resource }} />
                <DangerZone info={info} />
              </>
            )}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

interface SettingsProps {
  info: Project;
  resource: Resource<Project>;
}

/** Returns a function that saves a change and shows it. */
function useSave(
  { info, resource }: SettingsProps,
): (change: Change, text: string) => Promise<void> {
  const { api, toasts } = useApp();
  return async (body, text) => {
    const params = { path: { project_id: info.project_id } };
    await dataOf(api.PATCH("/admin/v1/projects/{project_id}", { params, body }));
    resource.reload();
    toasts.success(text);
  };
}

function TrashSettings(props: SettingsProps) {
  const { info } = props;
  const save = useSave(props);
  const { overlays } = useApp();
  const [days, setDays] = useState(String(info.trash_days));
  const isValid = /^\d+$/.test(days) && Number(days) <= MAX_TRASH_DAYS;
  const submit = async () => {
    const isEmptied = Number(days) === 0 && info.trash_files > 0;
    const agreed = !isEmptied || await confirm({ overlays }, {
      title: "Turn the trash off?",
      text: `${plural(info.trash_files, "file")} in it will be deleted for good.`,
      action: "Turn off and empty",
    });
    if (agreed) await save({ trash_days: Number(days) }, "Saved");
  };
  return (
    <Section
      title="Trash"
      lead={`What is deleted or overwritten can be restored for some days. It takes ${
        formatBytes(info.trash_bytes)
      } now.`}
    >
      <Setting value={days} onSave={submit} isReady={isValid && Number(days) !== info.trash_days}>
        {(refusal) => (
          <TextField
            label="Days to keep deleted files"
            hint={`0 turns the trash off; at most ${MAX_TRASH_DAYS}.`}
            inputMode="numeric"
            value={days}
            problem={isValid ? refusal : `Enter a whole number from 0 to ${MAX_TRASH_DAYS}`}
            onInput={setDays}
          />
        )}
      </Setting>
    </Section>
  );
}

/** The drives with a way to delete them. */
function Drives({ info: { project_id, drives }, resource }: SettingsProps) {
  const { api } = useApp();
  const remove = async (drive_name: string) => {
    await api.DELETE("/admin/v1/projects/{project_id}/drives/{drive_name}", {
      params: { path: { project_id, drive_name } },
    });
    resource.reload();
  };
  if (drives.length === 0) return null;
  return (
    <Section title="Drives">
      <Table
        caption="Drives"
        rows={drives}
        keyOf={({ drive_name }) => drive_name}
        columns={[
          {
            title: "Drive",
            isMain: true,
            cell: ({ drive_name }) => (
              <a href={links.folder(project_id, drive_name)}>{drive_name}</a>
            ),
          },
          { title: "Files", isNumber: true, cell: ({ files }) => formatNumber(files) },
          { title: "Size", isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
        ]}
        actions={({ drive_name, files }) => (
          <RemoveButton
            label={`Delete the drive ${drive_name}`}
            title={`Delete the drive “${drive_name}”?`}
            text={`${plural(files, "file")}, its trash and its links are deleted for good.`}
            action="Delete drive"
            typed={drive_name}
            done="The drive is being deleted"
            run={() => remove(drive_name)}
          />
        )}
      />
    </Section>
  );
}

function QuotaSettings(props: SettingsProps) {
  const { info } = props;
  const save = useSave(props);
  const [limit, setLimit] = useState(sizeText(info.max_bytes));
  const isValid = sizeProblem(limit) === undefined;
  const submit = () => save({ max_bytes: parseSize(limit) ?? null }, "Saved");
  const [files, setFiles] = useState(String(info.max_files ?? ""));
  const isCount = /^([1-9]\d{0,14})?$/.test(files);
  const maxFiles = files === "" ? null : Number(files);
  return (
    <Section title="Limits" lead="The trash counts as well and, for space, uploads in progress.">
      <Setting
        value={limit}
        onSave={submit}
        isReady={isValid && (parseSize(limit) ?? null) !== info.max_bytes}
      >
        {(refusal) => (
          <SizeField
            label="Limit of space"
            value={limit}
            problem={refusal}
            onInput={setLimit}
          />
        )}
      </Setting>
      <Setting
        value={files}
        onSave={() =>
          save({ max_files: maxFiles }, "Saved")}
        isReady={isCount && maxFiles !== info.max_files}
      >
        {(refusal) => (
          <TextField
            label="Limit of files"
            hint="How many files there may be. Empty for no limit."
            inputMode="numeric"
            placeholder="No limit"
            value={files}
            problem={isCount ? refusal : "Enter a whole number from 1 on, or nothing"}
            onInput={setFiles}
          />
        )}
      </Setting>
    </Section>
  );
}

function DomainSettings(props: SettingsProps) {
  const { info } = props;
  const save = useSave(props);
  const [suffix, setSuffix] = useState(info.host_suffix ?? "");
  const submit = () => save({ host_suffix: suffix.trim() === "" ? null : suffix.trim() }, "Saved");
  return (
    <Section
      title="Domain for applications"
      lead="Below it the owner may choose host names for applications."
    >
      <Setting
        value={suffix}
        onSave={submit}
        isReady={suffix.trim() !== (info.host_suffix ?? "")}
      >
        {(refusal) => (
          <TextField
            label="Domain"
            hint="Such as apps.example.com. Empty if only you set host names."
            placeholder="None"
            value={suffix}
            problem={refusal}
            spellcheck={false}
            onInput={setSuffix}
          />
        )}
      </Setting>
    </Section>
  );
}

function DangerZone({ info: { project_id, files } }: { info: Project }) {
  const app = useApp();
  const remove = async () => {
    const isAgreed = await confirm(app, {
      title: "Delete this project?",
      text: `All drives with ${
        plural(files, "file")
      }, keys, links and applications are deleted for good.`,
      action: "Delete project",
      typed: project_id,
    });
    if (isAgreed) await deleteProject(app, project_id);
  };
  return (
    <Section title="Delete the project" lead="There is no way back.">
      <div class="row">
        <Button kind="danger" onClick={remove}>Delete project…</Button>
      </div>
    </Section>
  );
}

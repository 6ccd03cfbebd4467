import { useState } from "preact/hooks";
import { dataOf, type Schemas } from "../core/api.ts";
import { sentenceOf } from "../core/api_error.ts";
import { useApp } from "../core/context.ts";
import { formatBytes, formatDate, formatNumber, plural } from "../core/format.ts";
import { links } from "../core/links.ts";
import type { Resource } from "../core/resource.ts";
import {
  MAX_TRASH_DAYS,
  NO_SIZE,
  parseDays,
  parseSize,
  SIZE_FIELD,
  sizeText,
} from "../projects/limit_fields.ts";
import { useProject } from "../projects/use_project.ts";
import { Button, useBusy } from "../ui/button.tsx";
import { Collection } from "../ui/collection.tsx";
import { confirm } from "../ui/form.tsx";
import { Facts } from "../ui/facts.tsx";
import { type InputAttributes, TextField } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Page, Section } from "../ui/page.tsx";
import { RemoveSection } from "../ui/remove_button.tsx";

type Project = Schemas["ProjectDetails"];
type Change = Schemas["ChangeProjectRequest"];

export function Settings({ project }: { project: string }) {
  const app = useApp();
  const resource = useProject(project);
  return (
    <Page title="Settings">
      <Loaded from={resource}>
        {(info) => (
          <div class="sections stack">
            <Section title="Project">
              <Facts
                facts={[
                  ["Id", info.project_id],
                  ["Created", formatDate(info.created)],
                ]}
              />
              <NameSetting {...{ info, resource }} />
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

/** A field with the button that saves it. */
function Setting<T>({ saved, initial, parse, invalid, onSave, ...field }: InputAttributes & {
  label: string;
  hint: string;
  /** The value that the server has. */
  saved: T;
  /** That value as a text. */
  initial: string;
  /** Returns the value of a text; `undefined` if it has none. */
  parse: (text: string) => T | undefined;
  /** What is wrong with a text without a value. */
  invalid?: string;
  /** What it throws is shown beside the field. */
  onSave: (value: T) => Promise<void>;
}) {
  const [text, setText] = useState(initial);
  const [refused, setRefused] = useState<{ text: string; reason: string }>();
  const value = parse(text);
  const isReady = value !== undefined && value !== saved;
  const [isBusy, save] = useBusy<Event>(async () => {
    if (!isReady) return;
    setRefused(undefined);
    await onSave(value);
  }, (error) => setRefused({ text, reason: sentenceOf(error) }));
  const refusal = refused?.text === text ? refused.reason : undefined;
  return (
    <form class="setting" onSubmit={save} noValidate>
      <TextField
        {...field}
        value={text}
        problem={value === undefined ? invalid : refusal}
        onInput={setText}
      />
      <Button type="submit" disabled={!isReady} aria-busy={isBusy || undefined}>Save</Button>
    </form>
  );
}

/** Returns a function that saves a change and shows it. */
function useSave({ info, resource }: SettingsProps): (change: Change) => Promise<void> {
  const { api, toasts } = useApp();
  return async (body) => {
    const params = { path: { project_id: info.project_id } };
    await dataOf(api.PATCH("/admin/v1/projects/{project_id}", { params, body }));
    resource.reload();
    toasts.success("Saved");
  };
}

function NameSetting(props: SettingsProps) {
  const { name } = props.info;
  const save = useSave(props);
  return (
    <Setting
      label="Name"
      hint="What people call the project. Programs know it by its id."
      placeholder="None"
      saved={name}
      initial={name ?? ""}
      parse={(text) => text.trim() || null}
      onSave={(name) => save({ name })}
    />
  );
}

function TrashSettings(props: SettingsProps) {
  const { info } = props;
  const save = useSave(props);
  const { overlays } = useApp();
  const submit = async (trash_days: number) => {
    const isEmptied = trash_days === 0 && info.trash_files > 0;
    const agreed = !isEmptied || await confirm({ overlays }, {
      title: "Turn the trash off?",
      text: `${plural(info.trash_files, "file")} in it will be deleted for good.`,
      action: "Turn off and empty",
    });
    if (agreed) await save({ trash_days });
  };
  return (
    <Section
      title="Trash"
      lead={`What is deleted or overwritten can be restored for some days. It takes ${
        formatBytes(info.trash_bytes)
      } now.`}
    >
      <Setting
        label="Days to keep deleted files"
        hint={`0 turns the trash off; at most ${MAX_TRASH_DAYS}.`}
        inputMode="numeric"
        saved={info.trash_days}
        initial={String(info.trash_days)}
        parse={parseDays}
        invalid={`Enter a whole number from 0 to ${MAX_TRASH_DAYS}`}
        onSave={submit}
      />
    </Section>
  );
}

function Drives({ info: { project_id, drives }, resource }: SettingsProps) {
  const { api } = useApp();
  if (drives.length === 0) return null;
  return (
    <Collection
      title="Drives"
      isSection
      from={resource}
      rows={({ drives }) => drives}
      keyOf={({ drive_name }) => drive_name}
      columns={[
        {
          title: "Drive",
          isMain: true,
          cell: ({ drive_name }) => <a href={links.folder(project_id, drive_name)}>{drive_name}</a>,
        },
        { title: "Files", isNumber: true, cell: ({ files }) => formatNumber(files) },
        { title: "Size", isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
      ]}
      empty="None"
      remove={({ drive_name, files }) => ({
        label: `Delete the drive ${drive_name}`,
        title: `Delete the drive “${drive_name}”?`,
        text: `${plural(files, "file")}, its trash and its links are deleted for good.`,
        action: "Delete drive",
        typed: drive_name,
        done: "The drive is being deleted",
        run: () =>
          api.DELETE("/admin/v1/projects/{project_id}/drives/{drive_name}", {
            params: { path: { project_id, drive_name } },
          }),
      })}
    />
  );
}

function QuotaSettings(props: SettingsProps) {
  const { info: { max_bytes, max_files } } = props;
  const save = useSave(props);
  return (
    <Section title="Limits" lead="The trash counts as well and, for space, uploads in progress.">
      <Setting
        label="Limit of space"
        {...SIZE_FIELD}
        saved={max_bytes}
        initial={sizeText(max_bytes)}
        parse={parseSize}
        invalid={NO_SIZE}
        onSave={(max_bytes) =>
          save({ max_bytes })}
      />
      <Setting
        label="Limit of files"
        hint="How many files there may be. Empty for no limit."
        inputMode="numeric"
        placeholder="No limit"
        saved={max_files}
        initial={String(max_files ?? "")}
        parse={parseCount}
        invalid="Enter a whole number from 1 on, or nothing"
        onSave={(max_files) =>
          save({ max_files })}
      />
    </Section>
  );
}

function parseCount(text: string): number | null | undefined {
  if (text === "") return null;
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

function DomainSettings(props: SettingsProps) {
  const { info: { host_suffix } } = props;
  const save = useSave(props);
  return (
    <Section
      title="Domain for applications"
      lead="Below it the owner may choose host names for applications."
    >
      <Setting
        label="Domain"
        hint="Such as apps.example.com. Empty if only you set host names."
        placeholder="None"
        spellcheck={false}
        saved={host_suffix}
        initial={host_suffix ?? ""}
        parse={(text) => text.trim() || null}
        onSave={(host_suffix) => save({ host_suffix })}
      />
    </Section>
  );
}

function DangerZone({ info: { project_id, files } }: { info: Project }) {
  const { api, router, toasts } = useApp();
  const remove = async () => {
    await api.DELETE("/admin/v1/projects/{project_id}", { params: { path: { project_id } } });
    toasts.success("The project is being deleted");
    router.go(links.projects());
  };
  const all = `All drives with ${plural(files, "file")}, keys, links and applications`;
  return (
    <RemoveSection
      heading="Delete the project"
      lead="There is no way back."
      title="Delete this project?"
      text={`${all} are deleted for good.`}
      action="Delete project"
      typed={project_id}
      run={remove}
    />
  );
}

import { dataOf, type Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField, useText } from "../ui/field.tsx";

/** The form for a new webhook. */
export function NewWebhook({ project, onClose }: {
  project: string;
  onClose: (made?: Schemas["NewWebhook"]) => void;
}) {
  const { api } = useApp();
  const name = useText();
  const url = useText();
  const drives = useText();
  const prefix = useText();
  const save = async () => {
    const chosen = drives.value.split(",").map((one) => one.trim()).filter((one) => one !== "");
    onClose(
      await dataOf(api.POST("/admin/v1/projects/{project_id}/webhooks", {
        params: { path: { project_id: project } },
        body: {
          name: name.value.trim(),
          url: url.value.trim(),
          drives: chosen.length === 0 ? null : chosen,
          name_prefix: prefix.value || null,
        },
      })),
    );
  };
  return (
    <FormDialog title="New webhook" submit="Create webhook" onClose={onClose} onSubmit={save}>
      <TextField label="Name" hint="For the list." {...name} />
      <TextField
        label="Address"
        hint="Of the receiver, such as https://example.com/hook."
        {...url}
        spellcheck={false}
      />
      <TextField
        label="Drives"
        hint="With commas between them. Without any, changes of all drives are sent."
        {...drives}
        spellcheck={false}
      />
      <TextField
        label="Names begin with"
        hint="Such as inbox/. Empty for all names."
        {...prefix}
        spellcheck={false}
      />
    </FormDialog>
  );
}

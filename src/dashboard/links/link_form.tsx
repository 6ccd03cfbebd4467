import { useState } from "preact/hooks";
import { Button, useBusy } from "../ui/button.tsx";
import { Checkbox, SelectField, TextField } from "../ui/field.tsx";
import type { LinkSettings } from "./drive_links.ts";

const HOUR = 3600;
const DAY = 24 * HOUR;

const LIFETIMES = [
  ["never", "Never"],
  [`${HOUR}`, "In 1 hour"],
  [`${DAY}`, "In 1 day"],
  [`${7 * DAY}`, "In 7 days"],
  [`${30 * DAY}`, "In 30 days"],
  [`${365 * DAY}`, "In 1 year"],
] as const;

type Lifetime = (typeof LIFETIMES)[number][0];

/** The most downloads that a link may be limited to. */
const MAX_DOWNLOADS = 1_000_000_000;

/** The settings of a new link, and the button that makes it. */
export function LinkForm({ isFolder, onCreate }: {
  isFolder: boolean;
  onCreate: (settings: LinkSettings) => Promise<void>;
}) {
  const [lifetime, setLifetime] = useState<Lifetime>(`${7 * DAY}`);
  const [password, setPassword] = useState("");
  const [limit, setLimit] = useState("");
  const [download, setDownload] = useState(false);
  const problem = limitProblem(limit);
  const [isBusy, create] = useBusy<Event>(async () => {
    if (problem !== undefined) return;
    await onCreate({
      expires_in: lifetime === "never" ? null : Number(lifetime),
      password: password === "" ? null : password,
      max_downloads: limit === "" ? null : Number(limit),
      download,
    });
    setPassword("");
    setLimit("");
  });
  return (
    <form class="stack" noValidate onSubmit={create}>
      <div class="two-columns">
        <SelectField
          label="Expires"
          value={lifetime}
          options={LIFETIMES}
          onChange={setLifetime}
        />
        <TextField
          label="Limit of downloads"
          placeholder="No limit"
          inputMode="numeric"
          value={limit}
          problem={problem}
          onInput={setLimit}
        />
      </div>
      <TextField
        label="Password"
        placeholder="None"
        type="password"
        autocomplete="new-password"
        value={password}
        onInput={setPassword}
      />
      <Checkbox
        label={isFolder
          ? "Download files instead of showing them"
          : "Download the file instead of showing it"}
        checked={download}
        onChange={setDownload}
      />
      <div class="row">
        <Button kind="primary" type="submit" aria-busy={isBusy || undefined}>Create link</Button>
      </div>
    </form>
  );
}

function limitProblem(text: string): string | undefined {
  if (text === "") return undefined;
  const isValid = /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_DOWNLOADS;
  return isValid ? undefined : "Enter a whole number from 1, or nothing";
}

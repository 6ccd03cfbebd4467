import { Pencil } from "lucide";
import type { ComponentChildren } from "preact";
import { useApp } from "../core/context.ts";
import { formatRelative } from "../core/format.ts";
import { IconButton } from "../ui/button.tsx";
import { askForm, type Form } from "../ui/form.tsx";
import type { DriveLinks, LinkSettings, ShareLink } from "./drive_links.ts";

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

/** The most downloads that a link may be limited to. */
const MAX_DOWNLOADS = 1_000_000_000;

interface Values {
  /** "same" is the deadline that a link has. */
  lifetime: (typeof LIFETIMES)[number][0] | "same";
  limit: string;
  /** The password of a link is never shown: without another one, it stays. */
  isOpen: boolean;
  password: string;
  download: boolean;
}

/** The form with the settings of a new link, or of the given one. */
export function linkForm<R>({ isFolder, link, send, ...form }: {
  title: string;
  submit: string;
  intro?: ComponentChildren;
  isFolder: boolean;
  link?: ShareLink;
  send: (settings: LinkSettings) => Promise<R>;
}): Form<Values, R> {
  const { expires = null, has_password = false, max_downloads = null, download = false } = link ??
    {};
  return {
    ...form,
    initial: {
      lifetime: link === undefined ? `${7 * DAY}` : expires === null ? "never" : "same",
      limit: max_downloads === null ? "" : `${max_downloads}`,
      isOpen: false,
      password: "",
      download,
    },
    fields: {
      lifetime: {
        label: "Expires",
        options: expires === null
          ? LIFETIMES
          : [["same", `As before: ${formatRelative(expires)}`], ...LIFETIMES],
      },
      limit: {
        label: "Limit of downloads",
        placeholder: "No limit",
        inputMode: "numeric",
        problem: ({ limit }) => limitProblem(limit),
      },
      password: {
        label: "Password",
        placeholder: has_password ? "As before" : "None",
        type: "password",
        autocomplete: "new-password",
        isShown: ({ isOpen }) => !isOpen,
      },
      isOpen: { label: "Remove the password", isShown: () => has_password },
      download: {
        label: isFolder
          ? "Download files instead of showing them"
          : "Download the file instead of showing it",
      },
    },
    send: async ({ lifetime, limit, isOpen, password, download }) =>
      await send({
        ...lifetime !== "same" && { expires_in: lifetime === "never" ? null : Number(lifetime) },
        ...(isOpen || password !== "") && { password: isOpen ? null : password },
        max_downloads: limit === "" ? null : Number(limit),
        download,
      }),
  };
}

/** A button that changes the settings of a link. */
export function ChangeLinkButton({ link, of, label = "Change link" }: {
  link: ShareLink;
  of: DriveLinks;
  label?: string;
}) {
  const app = useApp();
  const change = async () => {
    const form = linkForm({
      title: "Change link",
      submit: "Save",
      isFolder: link.name === undefined,
      link,
      send: async (settings) => await of.change(link.id, settings),
    });
    if (await askForm(app, form) !== undefined) app.toasts.success("Link changed");
  };
  return <IconButton icon={Pencil} label={label} onClick={change} />;
}

function limitProblem(text: string): string | undefined {
  if (text === "") return undefined;
  const isValid = /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_DOWNLOADS;
  return isValid ? undefined : "Enter a whole number from 1, or nothing";
}

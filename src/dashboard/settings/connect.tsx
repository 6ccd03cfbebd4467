import { HardDrive, type IconNode, SquareTerminal, Webhook } from "lucide";
import { useState } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { TextField } from "../ui/field.tsx";
import { links } from "../core/links.ts";
import { serverAddress } from "../core/server.ts";
import { LabelledCopy, Snippet } from "../ui/copy.tsx";
import { Icon } from "../ui/icon.tsx";
import { Page, Section } from "../ui/page.tsx";
import { type Client, clientsOf, PLACEHOLDER } from "./snippets.ts";

export function Connect({ project }: { project: string }) {
  const { session } = useApp();
  const { host, protocol } = location;
  const address = serverAddress();
  const [key, setKey] = useState("");
  const { webdav = false, s3 = null } = session.current.value ?? {};
  const clients = clientsOf({
    ...{ origin: address, host, isSecure: protocol === "https:", project, s3 },
    key: key.trim() || PLACEHOLDER,
    hasWebdav: webdav,
  });
  return (
    <Page title="Connect" lead="Lines to paste for programs that use this project.">
      <Section title="Connection details">
        <div class="stack">
          <LabelledCopy label="Address of the server" text={address} />
          <LabelledCopy label="Project id" text={project} />
          <TextField
            label="Project key"
            hint="It is put into the lines below, and never leaves this page."
            type="password"
            spellcheck={false}
            value={key}
            onInput={setKey}
          />
          <p class="soft">
            {session.may("admin") && (
              <>
                A key is shown once, when it is created:{" "}
                <a href={links.section(project, "keys")}>create one</a>.
              </>
            )}
          </p>
        </div>
      </Section>
      {clients.map((client) => <ClientSection key={client.title} {...client} />)}
    </Page>
  );
}

function ClientSection({ title, notes, snippets }: Client) {
  return (
    <Section title={title}>
      {notes.map((note) => <p key={note} class="soft">{note}</p>)}
      {snippets.map(({ label, text }) => (
        <Snippet
          key={label}
          title={label}
          text={text}
          name={`${title}: ${label}`}
          copy={`Copy the lines for ${title}: ${label}`}
        />
      ))}
    </Section>
  );
}

/** The ways to use a drive without the dashboard, as links to the page that explains them. */
export function ConnectWays({ project }: { project: string }) {
  const { session } = useApp();
  const ways: readonly (readonly [icon: IconNode, label: string, text: string] | false)[] = [
    session.current.value?.webdav === true &&
    [HardDrive, "Network folder", "In the file manager of this computer or phone"],
    [SquareTerminal, "Command line", "kvdrive put, get and sync"],
    [Webhook, "Programs", "S3, JavaScript, Python, Go and curl"],
  ];
  return (
    <ul class="connect-ways" aria-label="Other ways to connect">
      {ways.filter((way) => way !== false).map(([icon, label, text]) => (
        <li key={label}>
          <a class="card" href={links.section(project, "connect")}>
            <Icon of={icon} />
            <strong>{label}</strong>
            <span class="soft">{text}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

import { useApp } from "../core/context.ts";
import { links } from "../core/links.ts";
import { CopyButton, CopyField } from "../ui/copy.tsx";
import { Page, Section } from "../ui/page.tsx";
import { type Client, clientsOf, PLACEHOLDER, type Snippet } from "./snippets.ts";

/** How programs connect to a project. */
export function Connect({ project }: { project: string }) {
  const { session } = useApp();
  const { origin, host, protocol } = location;
  const clients = clientsOf({ origin, host, isSecure: protocol === "https:", project });
  return (
    <Page title="Connect" lead="Lines to paste for programs that use this project.">
      <Section title="Connection details">
        <div class="stack">
          <Labelled label="Address of the server" text={origin} />
          <Labelled label="Project id" text={project} />
          <p class="soft">
            Replace {PLACEHOLDER} by a project key. {session.may("admin")
              ? (
                <>
                  A key is shown once, when it is created:{" "}
                  <a href={links.section(project, "keys")}>create one</a>.
                </>
              )
              : null}
          </p>
        </div>
      </Section>
      {clients.map((client) => <ClientSection key={client.title} {...client} />)}
    </Page>
  );
}

function Labelled({ label, text }: { label: string; text: string }) {
  return (
    <div class="field">
      <span class="field-label">{label}</span>
      <CopyField text={text} label={label} />
    </div>
  );
}

function ClientSection({ title, notes, snippets }: Client) {
  return (
    <Section title={title}>
      {notes.map((note) => <p key={note} class="soft">{note}</p>)}
      {snippets.map((snippet) => <Block key={snippet.label} client={title} {...snippet} />)}
    </Section>
  );
}

function Block({ client, label, text }: Snippet & { client: string }) {
  const name = `${client}: ${label}`;
  return (
    <div class="snippet">
      <div class="snippet-head">
        <span>{label}</span>
        <CopyButton text={text} label={`Copy the lines for ${name}`} />
      </div>
      {/* It scrolls sideways, so it must be focusable. */}
      <pre tabIndex={0} role="region" aria-label={name}><code>{text}</code></pre>
    </div>
  );
}

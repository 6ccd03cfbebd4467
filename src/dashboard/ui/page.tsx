import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

interface HeadProps {
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** The frame of a view: its heading with actions, then its content. Sets the title of the tab. */
export function Page({ title, lead, actions, children }: HeadProps & { title: string }) {
  useTitle(title);
  return (
    <div class="page stack">
      <Head {...{ lead, actions }}>
        <h1 tabIndex={-1}>{title}</h1>
      </Head>
      {children}
    </div>
  );
}

/** A part of a page with a heading of its own. */
export function Section({ title, lead, actions, children }: HeadProps & { title: string }) {
  return (
    <section class="section stack" aria-label={title}>
      <Head {...{ lead, actions }}>
        <h2>{title}</h2>
      </Head>
      {children}
    </section>
  );
}

function Head({ lead, actions, children }: HeadProps) {
  return (
    <header class="head row between">
      <div>
        {children}
        {lead && <p class="soft">{lead}</p>}
      </div>
      {actions && <div class="row">{actions}</div>}
    </header>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · kvdrive`;
  }, [title]);
}

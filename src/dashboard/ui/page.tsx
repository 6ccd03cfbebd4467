import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

/** The frame of a view: its heading with actions, then its content. Sets the title of the tab. */
export function Page({ title, lead, actions, children }: {
  title: string;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  useTitle(title);
  return (
    <div class="page stack">
      <header class="page-head row between">
        <div>
          <h1 tabIndex={-1}>{title}</h1>
          {lead === undefined ? null : <p class="soft">{lead}</p>}
        </div>
        {actions === undefined ? null : <div class="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A part of a page with a heading of its own. */
export function Section({ title, lead, actions, children }: {
  title: string;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="section stack" aria-label={title}>
      <header class="section-head row between">
        <div>
          <h2>{title}</h2>
          {lead === undefined ? null : <p class="soft">{lead}</p>}
        </div>
        {actions === undefined ? null : <div class="row">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · kvdrive`;
  }, [title]);
}

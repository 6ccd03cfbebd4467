import { CloudOff } from "lucide";
import { useLayoutEffect, useRef } from "preact/hooks";
import { dataOf } from "../core/api.ts";
import { type App, useApp } from "../core/context.ts";
import { links } from "../core/links.ts";
import { TransfersContext, useTransfers } from "../transfers/transfers.ts";
import { TransferCard } from "../transfers/card.tsx";
import { useMedia } from "../files/view/geometry.ts";
import { Icon } from "../ui/icon.tsx";
import { BottomBar } from "./bottom_bar.tsx";
import { ProjectSwitcher, Sidebar } from "./sidebar.tsx";
import { viewOf } from "./sections.tsx";

/** The frame around every view: navigation, messages of the connection, and transfers, which go on when the view changes. */
export function Shell() {
  const app = useApp();
  const { session, router, toasts } = app;
  const isFirst = useRef(true);
  const transfers = useTransfers();
  const main = useRef<HTMLElement>(null);
  const isNarrow = useMedia("(width < 768px)");
  const current = session.current.value;
  const view = current === null ? undefined : viewOf(router.address.value, current);
  const place = `${view?.project}/${view?.section}`;

  // Before anything else can change the address, which would be lost.
  useLayoutEffect(() => {
    if (view === undefined && current !== null) {
      router.replace(homeOf(app));
      if (isFirst.current) leadToFiles(app).catch((error) => toasts.error(error));
    }
    isFirst.current = false;
  });
  // Screen readers and the next Tab start at the new view. Synchronous: a later call could take the focus from another element.
  useLayoutEffect(() => {
    main.current?.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
    main.current?.scrollTo(0, 0);
  }, [place]);

  if (view === undefined) return null;
  const navigation = { section: view.section, project: view.project };
  return (
    <TransfersContext.Provider value={transfers}>
      <div class="shell">
        <button type="button" class="skip" onClick={() => main.current?.focus()}>
          Skip to the content
        </button>
        {isNarrow ? null : <Sidebar {...navigation} />}
        <div class="shell-content">
          {isNarrow && view.project !== undefined && (
            <header class="top-bar">
              <ProjectSwitcher project={view.project} />
            </header>
          )}
          <ConnectionBanner />
          <main ref={main} id="main" tabIndex={-1}>{view.node}</main>
        </div>
        {isNarrow ? <BottomBar {...navigation} /> : null}
        <TransferCard />
      </div>
    </TransfersContext.Provider>
  );
}

const TEXTS = {
  offline: "The server cannot be reached. The page continues as soon as it answers.",
  failing: "The server has a problem. The page tries again every few seconds.",
};

function ConnectionBanner() {
  const state = useApp().connection.state.value;
  return (
    <div role="status" class="connection line" data-state={state}>
      {state === "online" ? null : (
        <>
          <Icon of={CloudOff} />
          {TEXTS[state]}
        </>
      )}
    </div>
  );
}

/** The first page of a session: a project opens on its files. */
function homeOf({ session }: Pick<App, "session">): string {
  const { role, project_id = null } = session.current.value ?? {};
  return role === "admin" || project_id === null ? links.projects() : links.drives(project_id);
}

/** Leads an administrator who has one project with one drive, or none yet, to where files can be dropped. */
async function leadToFiles({ api, router, session }: App): Promise<void> {
  if (!session.isAdministrator) return;
  const { projects } = await dataOf(api.GET("/admin/v1/projects"));
  const [only, another] = projects;
  if (only === undefined || another !== undefined) return;
  const { project_id } = only;
  const params = { path: { project_id }, query: { limit: 2 } };
  const { drives } = await dataOf(api.GET("/v1/{project_id}", { params }));
  const [drive] = drives;
  // The user may have gone elsewhere meanwhile.
  if (location.hash !== links.projects()) return;
  if (drive === undefined) router.replace(links.firstDrive(project_id));
  else if (drives.length === 1) router.replace(links.folder(project_id, drive.drive_name));
  else router.replace(links.drives(project_id));
}

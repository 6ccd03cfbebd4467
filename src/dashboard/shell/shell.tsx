import { CloudOff } from "lucide";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { TransfersContext, useTransfers } from "../transfers/transfers.ts";
import { TransferCard } from "../transfers/card.tsx";
import { useMedia } from "../files/view/geometry.ts";
import { Icon } from "../ui/icon.tsx";
import { BottomBar } from "./bottom_bar.tsx";
import { homeOf, leadToFiles } from "./home.ts";
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

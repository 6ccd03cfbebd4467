import { LogOut } from "lucide";
import type { Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { formatDate, formatRelative } from "../core/format.ts";
import { useAnswer } from "../core/resource.ts";
import { Button } from "../ui/button.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";

type SessionInfo = Schemas["SessionList"]["sessions"][number];

/** The browsers that are signed in with the same key or token. */
export function Account() {
  const { api, session, router, toasts } = useApp();
  const list = useAnswer((api, signal) => api.GET("/dashboard/sessions", { signal }), []);
  const signOutEverywhere = async () => {
    await session.signOut(true);
    router.replace("#/");
  };
  const end = async ({ id }: SessionInfo) => {
    await api.DELETE("/dashboard/sessions/{session_id}", { params: { path: { session_id: id } } });
    toasts.success("Signed out there");
    list.reload();
  };
  return (
    <Page
      title="Sessions"
      lead={session.isAdministrator
        ? "Browsers that are signed in as administrator."
        : "Browsers that are signed in with this key."}
      actions={<Button icon={LogOut} onClick={signOutEverywhere}>Sign out everywhere</Button>}
    >
      <Loaded from={list}>
        {({ sessions }) => (
          <Table
            caption="Sessions"
            columns={COLUMNS}
            rows={sessions}
            keyOf={({ id }) => id}
            actions={(one) =>
              one.current ? null : (
                <Button
                  kind="quiet"
                  aria-label={`Sign out ${one.browser}`}
                  onClick={() => end(one)}
                >
                  Sign out
                </Button>
              )}
          />
        )}
      </Loaded>
    </Page>
  );
}

const COLUMNS: Column<SessionInfo>[] = [
  {
    title: "Browser",
    isMain: true,
    cell: ({ browser, current }) => (
      <>
        {browser} {current ? <span class="badge good">This browser</span> : null}
      </>
    ),
  },
  { title: "Address", cell: ({ address }) => address },
  { title: "Last used", cell: ({ last_used }) => formatRelative(last_used) },
  { title: "Signed in", isMinor: true, cell: ({ created }) => formatDate(created) },
];

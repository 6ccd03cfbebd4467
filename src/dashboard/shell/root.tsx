import { CloudOff, RefreshCw } from "lucide";
import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sentenceOf } from "../core/api_error.ts";
import { useApp } from "../core/context.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/loaded.tsx";
import { ToastList } from "../ui/toast.tsx";
import { Shell } from "./shell.tsx";
import { codeIn, SignIn } from "./sign_in.tsx";

/** The page: the sign-in, or the shell with its views; dialogs, menus and messages over it. */
export function Root() {
  return (
    <>
      <Content />
      <OpenOverlays />
      <ToastList />
    </>
  );
}

/** The dialogs and menus that are open, in a region of their own. */
function OpenOverlays() {
  const { overlays } = useApp();
  const open = overlays.open.value;
  if (open.length === 0) return null;
  return (
    <div role="region" aria-label="Dialogs and menus">
      {open.map(({ id, node }) => <Fragment key={id}>{node}</Fragment>)}
    </div>
  );
}

type Start = "loading" | "ready" | { error: unknown };

function Content() {
  const { session, overlays } = useApp();
  // The page of a browser that is signed in has the session in it.
  const [start, setStart] = useState<Start>(session.current.value === null ? "loading" : "ready");
  const load = async () => {
    try {
      setStart("loading");
      await session.load();
      setStart("ready");
    } catch (error) {
      setStart({ error });
    }
  };
  useEffect(() => {
    if (start === "loading") void load();
  }, []);
  const current = session.current.value;
  useEffect(() => {
    if (current === null) overlays.clear();
  }, [current]);

  if (start === "loading") return <div class="start" role="status" aria-label="Loading" />;
  if (start !== "ready") {
    return (
      <main class="start">
        <Empty icon={CloudOff} title={sentenceOf(start.error)}>
          <Button icon={RefreshCw} onClick={load}>Try again</Button>
        </Empty>
      </main>
    );
  }
  // A code in the address signs in as somebody else than before, too.
  if (current === null || codeIn(location.hash) !== undefined) return <SignIn session={session} />;
  return <Shell key={current.id} />;
}

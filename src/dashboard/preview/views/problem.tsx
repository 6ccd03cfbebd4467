import { Binary, Download, FileQuestion, FileX, Lock, RefreshCw } from "lucide";
import type { ComponentChildren } from "preact";
import { ApiError, sentenceOf } from "../../core/api_error.ts";
import { useApp } from "../../core/context.ts";
import type { Resource } from "../../core/resource.ts";
import type { Entry, Place } from "../../files/entry.ts";
import { useFolder } from "../../files/view/folder_model.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, LoadProblem } from "../../ui/loaded.tsx";
import type { View } from "../content/kinds.ts";

export interface ViewProps {
  place: Place;
  entry: Entry;
  /** Shows the file in another way. */
  showAs: (view: View) => void;
}

/** Shows data of a file, or why there is none. */
export function Shown<T>({ from, children }: {
  from: Resource<T>;
  children: (data: T) => ComponentChildren;
}) {
  if (from.data !== undefined) return <>{children(from.data)}</>;
  if (from.error === undefined) return <Waiting />;
  return <Failure error={from.error} onRetry={from.reload} />;
}

export function Waiting() {
  return (
    <div class="preview-waiting" role="status" aria-label="Loading">
      <span />
    </div>
  );
}

function Failure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const status = error instanceof ApiError ? error.status : -1;
  if (status === 404 || status === 412) {
    return (
      <Note
        icon={FileX}
        title={status === 404 ? "This file is gone" : "This file has changed"}
        text={status === 404
          ? "It was deleted, moved or renamed, or it has expired."
          : "Another version was stored meanwhile."}
      >
        <Button icon={RefreshCw} onClick={onRetry}>Try again</Button>
      </Note>
    );
  }
  if (status === 403) {
    return <Note icon={Lock} title="You may not open this file" text={`${sentenceOf(error)}.`} />;
  }
  return (
    <div class="preview-note preview-surface">
      <LoadProblem {...{ error, onRetry }} />
    </div>
  );
}

/** A file that is there, but cannot be shown in this way. */
export function Unshowable({ entry, showAs, title, text }: ViewProps & {
  title: string;
  text?: string;
}) {
  const { session } = useApp();
  const { actions } = useFolder();
  return (
    <Note icon={FileQuestion} title={title} text={text}>
      {session.may("read") && (
        <Button
          kind="primary"
          icon={Download}
          onClick={() => actions.download([entry])}
        >
          Download
        </Button>
      )}
      <Button icon={Binary} onClick={() => showAs("bytes")}>Show its bytes</Button>
    </Note>
  );
}

/** A sentence in place of a file. */
export function Note(props: Parameters<typeof Empty>[0]) {
  return (
    <div class="preview-note preview-surface">
      <Empty {...props} />
    </div>
  );
}

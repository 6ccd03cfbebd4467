import { CloudOff, RefreshCw } from "lucide";
import type { IconNode } from "lucide";
import type { ComponentChildren, JSX } from "preact";
import { sentenceOf } from "../core/api_error.ts";
import { isRecovering, type Resource } from "../core/resource.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

/** Shows data when it is there: a skeleton before that, and the reason if it cannot be loaded. */
export function Loaded<T>({ from, skeleton, children }: {
  from: Resource<T>;
  skeleton?: ComponentChildren;
  children: (data: T) => JSX.Element | null;
}) {
  const { data, error, reload } = from;
  if (data !== undefined) return children(data);
  if (error === undefined) return <>{skeleton ?? <Skeleton rows={4} />}</>;
  return <LoadProblem error={error} onRetry={reload} />;
}

export function LoadProblem({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  const hint = isRecovering(error) ? "The page tries again by itself." : undefined;
  return (
    <Empty icon={CloudOff} title={sentenceOf(error)} text={hint}>
      <Button icon={RefreshCw} onClick={onRetry}>Try again</Button>
    </Empty>
  );
}

/** Grey lines in place of rows that are being loaded. */
export function Skeleton({ rows }: { rows: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => <div key={row} class="skeleton-row" />)}
    </div>
  );
}

/** What is shown where there is nothing to show. */
export function Empty({ icon, title, text, children }: {
  icon: IconNode;
  title: ComponentChildren;
  text?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon of={icon} size={28} />
      </span>
      <p class="empty-title">{title}</p>
      {text === undefined ? null : <p class="empty-text soft">{text}</p>}
      {children === undefined ? null : <div class="empty-actions row">{children}</div>}
    </div>
  );
}

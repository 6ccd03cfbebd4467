import { Page } from "../ui/page.tsx";

/** Activity. */
export function Events({ project: _project }: { project?: string }) {
  return <Page title="Activity">{null}</Page>;
}

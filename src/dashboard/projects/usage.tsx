import { Page } from "../ui/page.tsx";

/** Usage. */
export function Usage({ project: _project }: { project: string }) {
  return <Page title="Usage">{null}</Page>;
}

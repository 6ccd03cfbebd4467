import { Page } from "../ui/page.tsx";

/** Settings. */
export function Settings({ project: _project }: { project: string }) {
  return <Page title="Settings">{null}</Page>;
}

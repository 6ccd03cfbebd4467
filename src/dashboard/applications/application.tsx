import { Page } from "../ui/page.tsx";

/** Application. */
export function ApplicationView(
  { project: _project, app: _app }: { project: string; app: string },
) {
  return <Page title="Application">{null}</Page>;
}

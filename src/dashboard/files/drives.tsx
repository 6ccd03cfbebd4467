import { Page } from "../ui/page.tsx";

/** Files. */
export function Drives({ project: _project }: { project: string }) {
  return <Page title="Files">{null}</Page>;
}

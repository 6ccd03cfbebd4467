import { Page } from "../ui/page.tsx";

/** Connect. */
export function Connect({ project: _project }: { project: string }) {
  return <Page title="Connect">{null}</Page>;
}

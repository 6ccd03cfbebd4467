import { Page } from "../ui/page.tsx";

/** Links. */
export function Links({ project: _project, drive: _drive }: { project: string; drive: string }) {
  return <Page title="Links">{null}</Page>;
}

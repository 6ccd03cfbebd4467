import { Page } from "../ui/page.tsx";

/** Trash. */
export function Trash({ project: _project, drive: _drive }: { project: string; drive: string }) {
  return <Page title="Trash">{null}</Page>;
}

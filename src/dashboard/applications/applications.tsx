import { Page } from "../ui/page.tsx";

/** Applications. */
export function Applications({ project: _project }: { project: string }) {
  return <Page title="Applications">{null}</Page>;
}

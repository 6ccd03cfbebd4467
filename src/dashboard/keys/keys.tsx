import { Page } from "../ui/page.tsx";

/** Keys. */
export function Keys({ project: _project }: { project: string }) {
  return <Page title="Keys">{null}</Page>;
}

import { Page } from "../ui/page.tsx";

/** Uploads. */
export function Uploads({ project: _project }: { project: string }) {
  return <Page title="Uploads">{null}</Page>;
}

import { Page } from "../ui/page.tsx";

/** A folder of a drive. */
export function Folder({ drive }: {
  project: string;
  drive: string;
  path: string;
  query: URLSearchParams;
}) {
  return <Page title={drive}>{null}</Page>;
}

import { Page } from "../ui/page.tsx";

/** Health. */
export function Status() {
  return <Page title="Health">{null}</Page>;
}

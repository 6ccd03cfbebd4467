import { Page } from "../ui/page.tsx";

/** Sessions. */
export function Account() {
  return <Page title="Sessions">{null}</Page>;
}

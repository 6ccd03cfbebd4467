import { Page } from "../ui/page.tsx";

/** Projects. */
export function Projects() {
  return <Page title="Projects">{null}</Page>;
}

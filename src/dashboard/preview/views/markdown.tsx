import type { Token } from "marked";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useApp } from "../../core/context.ts";
import { ticketsOf } from "../../files/actions/tickets.ts";
import { folderOf } from "../../files/entry.ts";
import { readMarkdown } from "../content/markdown.ts";
import { elementsOf, relativeName } from "./markdown_elements.tsx";
import type { ViewProps } from "./problem.tsx";
import { FormattedView, type TextProps } from "./text.tsx";

export function MarkdownView(props: ViewProps) {
  return <FormattedView {...props} useFormat={useMarkdown} />;
}

function useMarkdown(props: TextProps) {
  const { place, entry, text } = props;
  const tokens = useMemo(() => readMarkdown(text), [text]);
  const address = useFolderAddress(props, hasPictures(tokens));
  if (tokens === undefined) return undefined;
  const imageOf = (href: string) => {
    const name = relativeName(href, folderOf(entry));
    return name === undefined || address === undefined
      ? undefined
      : `${address}?${new URLSearchParams({ name })}`;
  };
  const children = (
    <article class="markdown" role="region" aria-label="Content" tabIndex={0} key={place.path}>
      {elementsOf(tokens, { imageOf })}
    </article>
  );
  return { facts: ["Markdown"], children };
}

function hasPictures(tokens: readonly Token[] | undefined): boolean {
  return tokens?.some(({ raw }) => raw.includes("![")) ?? false;
}

/** The address of the files beside a file, for its pictures. */
function useFolderAddress({ place, entry }: ViewProps, isNeeded: boolean): string | undefined {
  const app = useApp();
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!isNeeded) return;
    ticketsOf(app).addressOf(place, entry.name).then(
      (whole) => setAddress(whole.split("?", 1)[0]),
      () => {
        // The text is shown with the names of its pictures.
      },
    );
  }, [isNeeded, entry.name]);
  return address;
}

import { File } from "lucide";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Entry, Place } from "../files/entry.ts";
import { useBeginning } from "./content/beginning.ts";
import { sniff, SNIFFED, type View, viewOf } from "./content/kinds.ts";
import { ArchiveView } from "./views/archive.tsx";
import { BytesView } from "./views/bytes.tsx";
import { ImageView, SvgView } from "./views/image.tsx";
import { JsonView } from "./views/json.tsx";
import { MarkdownView } from "./views/markdown.tsx";
import { MediaView } from "./views/media.tsx";
import { PdfView } from "./views/pdf.tsx";
import { Note, Shown, type ViewProps } from "./views/problem.tsx";
import { TableView } from "./views/table.tsx";
import { TextView } from "./views/text.tsx";

/** The content of a file, shown in the way of its kind. */
export function Stage({ place, entry }: { place: Place; entry: Entry }) {
  const [chosen, showAs] = useState<View>();
  const props = { place, entry, showAs };
  if (entry.size === 0) {
    return <Note icon={File} title="This file is empty" text="It has a name, and no content." />;
  }
  const view = chosen ?? viewOf(entry);
  return view === undefined ? <Sniffed {...props} /> : <Viewed {...props} view={view} />;
}

/** A file whose name and type say nothing. */
function Sniffed(props: ViewProps) {
  const from = useBeginning(props.place, props.entry, SNIFFED);
  return (
    <Shown from={from}>
      {({ bytes }) => <Viewed {...props} view={sniff(bytes)} />}
    </Shown>
  );
}

const VIEWS: Readonly<Record<View, (props: ViewProps) => JSX.Element>> = {
  image: ImageView,
  svg: SvgView,
  video: (props) => <MediaView {...props} kind="video" />,
  audio: (props) => <MediaView {...props} kind="audio" />,
  pdf: PdfView,
  markdown: MarkdownView,
  json: JsonView,
  table: TableView,
  archive: ArchiveView,
  text: TextView,
  bytes: BytesView,
};

function Viewed({ view, ...props }: ViewProps & { view: View }) {
  const Chosen = VIEWS[view];
  return <Chosen {...props} />;
}

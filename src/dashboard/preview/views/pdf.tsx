import { Download, ExternalLink, FileText } from "lucide";
import { useApp } from "../../core/context.ts";
import { formatBytes } from "../../core/format.ts";
import { ticketsOf } from "../../files/actions/tickets.ts";
import { labelOf, shownName } from "../../files/entry.ts";
import { useFolder } from "../../files/view/folder_model.ts";
import { Button } from "../../ui/button.tsx";
import { useBlob } from "./address.ts";
import { Note, Shown, Unshowable, type ViewProps, Waiting } from "./problem.tsx";

/** Larger documents are not loaded into the page, in bytes. */
const MAX_PDF = 30_000_000;
/** The signature stands in the first bytes. */
const SIGNATURE_WITHIN = 1024;

/** A PDF document in the browser's viewer, which gets it as a blob. */
export function PdfView(props: ViewProps) {
  const { entry: { size = 0 } } = props;
  if (size <= MAX_PDF && navigator.pdfViewerEnabled) return <Document {...props} />;
  return (
    <Elsewhere
      {...props}
      title={size > MAX_PDF
        ? `This document is large: ${formatBytes(size)}`
        : "This browser opens documents in a tab of their own"}
    />
  );
}

function Document(props: ViewProps) {
  const [loading, src] = useBlob(props, async (file) => {
    const isPdf = (await file.slice(0, SIGNATURE_WITHIN).text()).includes("%PDF-");
    return isPdf ? new Blob([file], { type: "application/pdf" }) : null;
  });
  return (
    <Shown from={loading}>
      {(blob) => {
        if (blob === null) return <Unshowable {...props} title="This is not a PDF document" />;
        if (src === undefined) return <Waiting />;
        return <iframe class="preview-pdf" src={src} title={shownName(labelOf(props.entry))} />;
      }}
    </Shown>
  );
}

/** A document that is not shown in the page. */
function Elsewhere({ place, entry, title }: ViewProps & { title: string }) {
  const app = useApp();
  const { actions } = useFolder();
  const open = async () => {
    // Opened before the answer: a window that opens later would be blocked.
    const tab = globalThis.open("about:blank", "_blank");
    const address = await ticketsOf(app).addressOf(place, entry.name);
    if (tab === null) throw new Error("The browser does not allow another tab");
    tab.opener = null;
    tab.location.href = address;
  };
  return (
    <Note icon={FileText} title={title} text="Download it, or open it in a tab.">
      <Button kind="primary" icon={Download} onClick={() => actions.download([entry])}>
        Download
      </Button>
      <Button icon={ExternalLink} onClick={open}>Open in a tab</Button>
    </Note>
  );
}

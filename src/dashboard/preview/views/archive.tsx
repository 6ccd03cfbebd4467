import { useApp } from "../../core/context.ts";
import { formatBytes, formatNumber, plural } from "../../core/format.ts";
import { useResource } from "../../core/resource.ts";
import { shownName } from "../../files/entry.ts";
import { readPart } from "../content/beginning.ts";
import { readContents, type ZipContents } from "../content/zip.ts";
import { Shown, Unshowable, type ViewProps } from "./problem.tsx";
import { Sheet } from "./sheet.tsx";

/** The names and sizes in a ZIP archive. */
export function ArchiveView(props: ViewProps) {
  const { place, entry: { name, etag, size = 0 } } = props;
  const { api } = useApp();
  const loading = useResource(async (signal) => {
    let version: string | undefined;
    const contents = await readContents(async (start, end) => {
      const part = await readPart(api, place, name, [start, end], version, signal);
      version = part.etag;
      return part.bytes;
    }, size);
    return contents ?? null;
  }, [place.project, place.drive, name, etag]);
  return (
    <Shown from={loading}>
      {(contents) =>
        contents === null
          ? <Unshowable {...props} title="This is not a ZIP archive" />
          : <Contents {...contents} />}
    </Shown>
  );
}

function Contents({ entries, total, isEncrypted }: ZipContents) {
  const isWhole = entries.length >= total;
  const unpacked = entries.reduce((sum, { size }) => sum + size, 0);
  const facts = [
    isWhole
      ? plural(total, "entry", "entries")
      : `First ${formatNumber(entries.length)} of ${plural(total, "entry", "entries")}`,
    isWhole ? `${formatBytes(unpacked)} unpacked` : "",
    isEncrypted ? "Encrypted" : "",
  ];
  return (
    <Sheet facts={facts}>
      <div class="values archive" role="region" aria-label="Content" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col" class="right">Size</th>
            </tr>
          </thead>
          <tbody>
            {entries.map(({ name, size }, index) => (
              <tr key={index}>
                <td title={shownName(name)}>{shownName(name)}</td>
                <td class="right">{name.endsWith("/") ? "—" : formatBytes(size)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Sheet>
  );
}

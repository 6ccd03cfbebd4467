import { CodeXml } from "lucide";
import { useState } from "preact/hooks";
import { formatBytes } from "../../core/format.ts";
import { labelOf, shownName } from "../../files/entry.ts";
import { IconButton } from "../../ui/button.tsx";
import { useAddress, useBlob } from "./address.ts";
import { Shown, Unshowable, type ViewProps, Waiting } from "./problem.tsx";
import { ZoomArea } from "./zoom_area.tsx";

/** Larger drawings are not loaded, in bytes: the browser draws all of it. */
const MAX_SVG = 8_000_000;

/** An image, loaded by the browser itself. */
export function ImageView(props: ViewProps) {
  const address = useAddress(props);
  const [isLoaded, setLoaded] = useState(false);
  if (address.isBroken) {
    return (
      <Unshowable
        {...props}
        title="This image cannot be shown"
        text="It is damaged, or of a kind that this browser does not know."
      />
    );
  }
  return (
    <Shown from={address.url}>
      {(src) => (
        <>
          {isLoaded ? null : <Waiting />}
          <ZoomArea
            key={src}
            src={src}
            label={shownName(labelOf(props.entry))}
            onLoad={() => setLoaded(true)}
            onError={address.fail}
          />
        </>
      )}
    </Shown>
  );
}

/** A drawing. Its scripts do not run in an `<img>`, which gets it as a blob with the right type. */
export function SvgView(props: ViewProps) {
  const { entry: { size = 0 } } = props;
  if (size <= MAX_SVG) return <Drawing {...props} />;
  return (
    <Unshowable
      {...props}
      title="This drawing is too large for a preview"
      text={`Drawings up to ${formatBytes(MAX_SVG)} are shown.`}
    />
  );
}

function Drawing(props: ViewProps) {
  const { entry, showAs } = props;
  const [loading, src] = useBlob(props, (file) => new Blob([file], { type: "image/svg+xml" }));
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <Unshowable {...props} title="This drawing cannot be shown" />;
  const source = (
    <IconButton
      icon={CodeXml}
      label="Show the source"
      onClick={() => showAs("text")}
    />
  );
  return (
    <Shown from={loading}>
      {() =>
        src === undefined ? <Waiting /> : (
          <ZoomArea
            src={src}
            label={shownName(labelOf(entry))}
            isVector
            // Opened on its own, the address would be a page.
            onLoad={() => URL.revokeObjectURL(src)}
            onError={() => setBroken(true)}
            tools={source}
          />
        )}
    </Shown>
  );
}

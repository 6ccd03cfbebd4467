import { useEffect, useRef } from "preact/hooks";
import { labelOf, shownName } from "../../files/entry.ts";
import { KindIcon } from "../../files/view/kind_icon.tsx";
import { useAddress } from "./address.ts";
import { Shown, Unshowable, type ViewProps } from "./problem.tsx";

/** Video or audio in the browser's player, which loads what it plays and no more. */
export function MediaView({ kind, ...props }: ViewProps & { kind: "video" | "audio" }) {
  const address = useAddress(props);
  const time = useRef(0);
  if (address.isBroken) {
    return (
      <Unshowable
        {...props}
        title={`This ${kind} cannot be played`}
        text="It is damaged, or of a kind that this browser does not know."
      />
    );
  }
  const label = shownName(labelOf(props.entry));
  return (
    <Shown from={address.url}>
      {(src) => {
        const player = {
          src,
          label,
          start: time.current,
          onTime: (seconds: number) => void (time.current = seconds),
          onError: address.fail,
        };
        if (kind === "video") return <Player key={src} Tag="video" {...player} />;
        return (
          <div class="preview-audio preview-surface">
            <KindIcon kind="audio" size={48} />
            <p>
              <bdi>{label}</bdi>
            </p>
            <Player key={src} Tag="audio" {...player} />
          </div>
        );
      }}
    </Shown>
  );
}

function Player({ Tag, src, label, start, onTime, onError }: {
  Tag: "video" | "audio";
  src: string;
  label: string;
  /** Seconds at which it goes on after its address has changed. */
  start: number;
  onTime: (seconds: number) => void;
  onError: () => void;
}) {
  const ref = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  const keepTime = (event: Event) => {
    const player = event.currentTarget as HTMLMediaElement;
    // A player that has ended is at its beginning again.
    if (player.hasAttribute("src")) onTime(player.currentTime);
  };
  useEffect(() => {
    const player = ref.current;
    if (player === null) return;
    player.src = src;
    if (start > 0) player.currentTime = start;
    return () => {
      // A player that has left the page goes on loading, unless it is told.
      player.pause();
      player.removeAttribute("src");
      player.load();
    };
  }, []);
  return (
    <Tag
      ref={ref}
      controls
      preload="metadata"
      aria-label={label}
      onTimeUpdate={keepTime}
      onSeeking={keepTime}
      onError={(event: Event) => {
        if ((event.currentTarget as Element).hasAttribute("src")) onError();
      }}
    />
  );
}

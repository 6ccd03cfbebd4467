import { ChevronLeft, ChevronRight, Download, PanelRight, Share2, Trash2, X } from "lucide";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { formatNumber } from "../core/format.ts";
import { ticketsOf } from "../files/actions/tickets.ts";
import { type Entry, labelOf, type Place, shownName } from "../files/entry.ts";
import { typeOf } from "../files/listing/kinds.ts";
import { focusRow } from "../files/view/rows/entry_row.tsx";
import { useFolder } from "../files/view/folder_model.ts";
import { KindIcon } from "../files/view/kind_icon.tsx";
import { IconButton } from "../ui/button.tsx";
import { ToastList } from "../ui/toast.tsx";
import { viewOf } from "./content/kinds.ts";
import { Details } from "./details.tsx";
import { Stage } from "./stage.tsx";

/** Larger images are loaded when they are asked for, in bytes. */
const MAX_PRELOAD = 25_000_000;

/** How far a finger moves at least, in pixels. */
const SWIPE = 60;

interface LightboxProps {
  place: Place;
  /** The files of the list, in its order. */
  files: readonly Entry[];
  /** The name of the file that is shown. */
  name: string;
  /** Shows another file: the address follows. */
  onMove: (name: string) => void;
  onClose: () => void;
}

/** Shows one file of a list over the page, with the next and the previous one. */
export function Lightbox({ place, files, name, onMove, onClose }: LightboxProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [hasDetails, setDetails] = useState(false);
  const index = files.findIndex((file) => file.name === name);
  const entry = files[index];
  const neighbors = [files[index - 1], files[index + 1]] as const;
  const move = (by: -1 | 1) => {
    const target = neighbors[by === 1 ? 1 : 0];
    if (target !== undefined) onMove(target.name);
  };
  useModal(dialog, name);
  const swipe = useSwipe(move);
  if (entry === undefined) return null;
  const toggle = () => setDetails(!hasDetails);
  const position = `${formatNumber(index + 1)} of ${formatNumber(files.length)}`;
  return (
    <dialog
      ref={dialog}
      class="lightbox"
      aria-labelledby={id}
      tabIndex={-1}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (isTyping(event)) return;
        if (event.key === "ArrowLeft") move(-1);
        else if (event.key === "ArrowRight") move(1);
        else if (event.key === "i") toggle();
      }}
    >
      <header class="lightbox-head line">
        <IconButton icon={X} label="Close" size={20} onClick={onClose} />
        <KindIcon kind={typeOf(entry).kind} />
        <div class="lightbox-title">
          <h2 id={id} class="ellipsis">
            <bdi>{shownName(labelOf(entry)) || "/"}</bdi>
          </h2>
          <p class="number hint" aria-live="polite">{position}</p>
        </div>
      </header>
      <Actions entry={entry} hasDetails={hasDetails} onDetails={toggle} />
      <div class="lightbox-body">
        <div
          class="lightbox-stage"
          onClick={(event) => isBeside(event) && onClose()}
          {...swipe}
        >
          <Stage key={`${entry.name}\n${entry.etag}`} place={place} entry={entry} />
        </div>
        <Step by={-1} to={neighbors[0]} onMove={move} />
        <Step by={1} to={neighbors[1]} onMove={move} />
        {hasDetails && (
          <Details
            place={place}
            entries={[entry]}
            onClose={() => setDetails(false)}
          />
        )}
      </div>
      <Preload place={place} entries={neighbors} />
      <ToastList />
    </dialog>
  );
}

/** Opens the dialog: the browser keeps the focus inside. The list gets it back, at the file that was shown last. */
function useModal(dialog: { readonly current: HTMLDialogElement | null }, name: string): void {
  const last = useRef(name);
  last.current = name;
  useEffect(() => {
    dialog.current?.showModal();
    // The keys work at once, and no button looks chosen.
    dialog.current?.focus();
    return () => {
      dialog.current?.close();
      focusRow({ name: last.current });
    };
  }, []);
}

function Actions({ entry, hasDetails, onDetails }: {
  entry: Entry;
  hasDetails: boolean;
  onDetails: () => void;
}) {
  const { session } = useApp();
  const { actions } = useFolder();
  return (
    <div class="lightbox-actions line" role="group" aria-label="Actions">
      {session.may("read") && (
        <>
          <IconButton
            icon={Download}
            label="Download"
            onClick={() => actions.download([entry])}
          />
          <IconButton icon={Share2} label="Share" onClick={() => void actions.share(entry)} />
        </>
      )}
      {session.may("delete") && (
        <IconButton
          icon={Trash2}
          label="Delete"
          onClick={() => actions.remove([entry])}
        />
      )}
      <IconButton
        icon={PanelRight}
        label="Details"
        aria-pressed={hasDetails}
        onClick={onDetails}
      />
    </div>
  );
}

/** A button at the side. At the end of the list it stays, so that the focus does. */
function Step({ by, to, onMove }: {
  by: -1 | 1;
  to: Entry | undefined;
  onMove: (by: -1 | 1) => void;
}) {
  return (
    <IconButton
      icon={by === 1 ? ChevronRight : ChevronLeft}
      label={by === 1 ? "Next file" : "Previous file"}
      size={24}
      class={by === 1 ? "lightbox-step next" : "lightbox-step previous"}
      aria-disabled={to === undefined}
      onClick={() => onMove(by)}
    />
  );
}

/** Loads the images before and after, so that they are there when they are asked for. */
function Preload({ place, entries }: {
  place: Place;
  entries: readonly (Entry | undefined)[];
}) {
  const app = useApp();
  const [addresses, setAddresses] = useState<string[]>([]);
  const images = entries.filter((entry): entry is Entry =>
    entry !== undefined && viewOf(entry) === "image" && isSmall(entry)
  );
  useEffect(() => {
    let isCurrent = true;
    const tickets = ticketsOf(app);
    Promise.all(images.map(({ name }) => tickets.addressOf(place, name))).then(
      (addresses) => isCurrent && setAddresses(addresses),
      () => {
        // The image itself shows why it cannot be loaded.
      },
    );
    return () => void (isCurrent = false);
  }, [images.map(({ name, etag }) => `${name}\n${etag}`).join("\n")]);
  return (
    <div hidden>
      {addresses.map((address) => <img key={address} src={address} alt="" fetchpriority="low" />)}
    </div>
  );
}

function isSmall({ size = 0 }: Entry): boolean {
  return size > 0 && size <= MAX_PRELOAD;
}

/** Whether a click was beside what is shown. */
function isBeside({ target, currentTarget, clientX, clientY }: MouseEvent): boolean {
  if (target === currentTarget) return true;
  const area = target as HTMLElement;
  if (area.dataset["closes"] === undefined) return false;
  // The area has taken the pointer from its image.
  const { left, right, top, bottom } = area.querySelector("img")!.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}

/** Whether arrow keys and letters have another meaning where the focus is. */
function isTyping({ target, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  if (altKey || ctrlKey || metaKey || !(target instanceof Element)) return true;
  const scroller = target.closest<HTMLElement>("pre, .values");
  return target.closest("input, select, textarea, video, audio, .menu") !== null ||
    (scroller !== null && scroller.scrollWidth > scroller.clientWidth);
}

/** Recognizes a finger that moves sideways. What scrolls sideways by itself, and an enlarged image, keep the movement. */
function useSwipe(move: (by: -1 | 1) => void) {
  const start = useRef<{ x: number; y: number } | undefined>(undefined);
  return {
    onTouchStart: (event: TouchEvent) => {
      const [touch, other] = event.touches;
      const isTaken = touch === undefined || other !== undefined || keeps(event.target as Element);
      start.current = isTaken ? undefined : { x: touch.clientX, y: touch.clientY };
    },
    onTouchEnd: (event: TouchEvent) => {
      const from = start.current;
      const [to] = event.changedTouches;
      start.current = undefined;
      if (from === undefined || to === undefined) return;
      const x = to.clientX - from.x;
      if (Math.abs(x) < SWIPE || Math.abs(x) < 2 * Math.abs(to.clientY - from.y)) return;
      move(x < 0 ? 1 : -1);
    },
  };
}

function keeps(target: Element): boolean {
  for (let element: Element | null = target; element !== null; element = element.parentElement) {
    if (element.matches(".lightbox-stage")) return false;
    if (element.matches("[data-zoomed], video, audio, input, button")) return true;
    const isScroller = element.scrollWidth > element.clientWidth + 1;
    if (
      isScroller && getComputedStyle(element).overflowX !== "visible" &&
      getComputedStyle(element).overflowX !== "hidden"
    ) return true;
  }
  return true;
}

import { ChevronDown, Pause, Play, RefreshCw, X } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type App, useApp } from "../core/context.ts";
import { plural } from "../core/format.ts";
import { IconButton } from "../ui/button.tsx";
import { confirm } from "../ui/form.tsx";
import { useSharedTransfers } from "./transfers.ts";
import { figuresOf, headlineOf, type Totals, totalsOf } from "./totals.ts";
import type { Transfers } from "./transfers.ts";
import { UploadRows } from "./upload_rows.tsx";

/** Rows of the card: those of small files change all the time. */
const MAX_ROWS = 20;

/** The card in the corner with running transfers; a bar above the bottom bar on phones. */
export function TransferCard() {
  const { router } = useApp();
  const transfers = useSharedTransfers();
  const [isOpen, setOpen] = useState(() => matchMedia("(width >= 768px)").matches);
  void transfers.version.value;
  const step = transfers.step.value;
  const { tasks } = transfers;
  // Their own page shows the same.
  const isElsewhere = router.address.value.segments[2] !== "uploads";
  const totals = totalsOf(tasks);
  const isOver = tasks.length > 0 && totals.count.done === tasks.length && step === "";
  const isLeft = useLeaving(isOver);
  const isShown = isElsewhere && !isLeft && (tasks.length > 0 || step !== "");
  const card = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const { style } = document.documentElement;
    const element = card.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      style.setProperty("--transfer-card", `${element.offsetHeight}px`);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      style.removeProperty("--transfer-card");
    };
  }, [isShown]);
  return (
    <>
      <p role="status" class="visually-hidden">{announcementOf(totals)}</p>
      {isShown && (
        <section ref={card} class="transfer-card raised" aria-label="Uploads">
          <header class="transfer-head line">
            <UploadSummary totals={totals} step={step} />
            <UploadActions totals={totals}>
              <IconButton
                icon={ChevronDown}
                class="transfer-toggle"
                label={isOpen ? "Hide the list" : "Show the list"}
                aria-expanded={isOpen}
                onClick={() => setOpen(!isOpen)}
              />
            </UploadActions>
          </header>
          {isOpen && tasks.length > 0 ? <UploadRows max={MAX_ROWS} /> : null}
        </section>
      )}
    </>
  );
}

/** How long the card stays after everything was uploaded, in milliseconds. */
const STAY = 10_000;

/** Whether the card has left: some time after its end, unless the user looks at it. */
function useLeaving(isOver: boolean): boolean {
  const [isLeft, setLeft] = useState(false);
  useEffect(() => {
    if (!isOver) return;
    const timer = setInterval(() => {
      if (document.querySelector(".transfer-card:is(:hover, :focus-within)") === null) {
        setLeft(true);
      }
    }, STAY);
    return () => {
      clearInterval(timer);
      setLeft(false);
    };
  }, [isOver]);
  return isLeft;
}

/** What screen readers announce: the end, and not each step. */
function announcementOf(totals: Totals): string {
  const { waiting, running, failed, done } = totals.count;
  return waiting + running === 0 && failed + done > 0 ? headlineOf(totals) : "";
}

export function UploadSummary({ totals, step }: { totals: Totals; step: string }) {
  const { bytes, sent, count } = totals;
  const isOpen = count.waiting + count.running + count.paused > 0;
  const hasTasks = Object.values(count).some((number) => number > 0);
  const figures = figuresOf(totals);
  return (
    <div class="transfer-summary">
      <p class="transfer-title">{step === "" && hasTasks ? headlineOf(totals) : step}</p>
      {figures === "" ? null : <p class="upload-details">{figures}</p>}
      {isOpen && (
        <progress aria-label="Progress of all uploads" max={Math.max(1, bytes)} value={sent} />
      )}
    </div>
  );
}

export function UploadActions({ totals: { count }, children }: {
  totals: Totals;
  children?: ComponentChildren;
}) {
  const app = useApp();
  const transfers = useSharedTransfers();
  const { tasks } = transfers;
  if (tasks.length === 0) return null;
  const isActive = count.waiting + count.running > 0;
  const isStopped = count.paused + count.failed > 0;
  return (
    <>
      {isActive
        ? <IconButton icon={Pause} label="Pause all" onClick={() => transfers.pause()} />
        : isStopped
        ? (
          <IconButton
            icon={count.paused > 0 ? Play : RefreshCw}
            label={count.paused > 0 ? "Resume all" : "Retry all"}
            onClick={() => transfers.resume()}
          />
        )
        : null}
      {children}
      <IconButton
        icon={X}
        label={count.done === tasks.length ? "Close the list" : "Cancel all"}
        onClick={() => closeAll(app, transfers)}
      />
    </>
  );
}

/** Ends all uploads, after a question if that interrupts some. */
async function closeAll(app: App, transfers: Transfers): Promise<void> {
  const open = transfers.tasks.filter(({ state }) => state !== "done");
  const isAgreed = open.length === 0 || await confirm(app, {
    title: `Cancel ${plural(open.length, "upload")}?`,
    text: "What has been sent of them is deleted.",
    action: open.length === 1 ? "Cancel upload" : "Cancel uploads",
  });
  if (!isAgreed) return;
  transfers.cancel(open);
  transfers.clearDone();
}

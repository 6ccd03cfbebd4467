import { byteText } from "./byte_text.ts";
import type { Progress } from "./progress_bar.ts";
import { fitEnd, textWidth } from "./text_width.ts";
import { visible } from "./visible.ts";

/** Columns of the bar itself, without its brackets, and of a label that is still worth showing. */
const MAX_BAR = 30;
const MIN_BAR = 5;
const MIN_LABEL = 12;

const GAP = "  ";

/** A longer time is not told, as nobody knows it. */
const MAX_SECONDS = 100 * 3600;

/**
 * One line that takes at most so many columns: label, bar, share, amount, rate, time left. Where there is less room,
 * the last of them go first, then the bar, then the label.
 *
 * @param rate How much a second, if that is known.
 */
export function progressLine(
  progress: Progress,
  rate: number | undefined,
  columns: number,
): string {
  const { done, total } = progress;
  const share = shareOf(progress);
  const left = total === undefined ? undefined : timeLeft(total - done, rate);
  const facts = [
    ...(share === undefined ? [] : [`${Math.floor(share * 100)}%`.padStart(4)]),
    amount(progress),
    ...(rate === undefined ? [] : [`${amountOf(rate, progress.unit)}/s`]),
    ...(left === undefined ? [] : [left]),
  ];
  const label = visible(progress.label);
  const minLabel = Math.min(textWidth(label), MIN_LABEL);
  while (facts.length > 1 && minLabel + widthOf(facts) > columns) facts.pop();
  const room = columns - widthOf(facts) - minLabel - GAP.length - "[]".length;
  const bar = share === undefined || room < MIN_BAR ? "" : drawBar(share, Math.min(room, MAX_BAR));
  const tail = [...(bar === "" ? [] : [bar]), ...facts];
  const rest = columns - widthOf(tail);
  return rest < 1
    ? fitEnd(tail.join(GAP).trim(), Math.max(0, columns))
    : [fitEnd(label, rest), ...tail].join(GAP);
}

/** Each with the gap before it. */
function widthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + GAP.length + textWidth(text), 0);
}

function shareOf({ done, total }: Progress): number | undefined {
  if (total === undefined) return undefined;
  return total === 0 ? 1 : Math.min(1, Math.max(0, done / total));
}

function drawBar(share: number, columns: number): string {
  const filled = Math.floor(share * columns);
  return `[${"#".repeat(filled)}${"-".repeat(columns - filled)}]`;
}

function amount({ done, total, unit }: Progress): string {
  if (unit === "bytes") {
    return total === undefined ? byteText(done) : `${byteText(done)} of ${byteText(total)}`;
  }
  return total === undefined ? `${done} ${unit}` : `${done} of ${total} ${unit}`;
}

function amountOf(rate: number, unit: string): string {
  return unit === "bytes" ? byteText(rate) : `${rate.toFixed(rate < 10 ? 1 : 0)} ${unit}`;
}

/** "1:05 left"; nothing where it stands still. */
function timeLeft(rest: number, rate: number | undefined): string | undefined {
  if (rate === undefined || rate <= 0 || rest < 0) return undefined;
  const seconds = Math.ceil(rest / rate);
  if (seconds > MAX_SECONDS) return undefined;
  const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const clock = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${clock}:${two(seconds % 60)} left`;
}

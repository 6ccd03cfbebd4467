import { formatBytes, plural } from "../core/format.ts";
import { formatDuration } from "./upload/speedometer.ts";
import type { UploadState, UploadTask } from "./upload/upload_task.ts";

export interface Totals {
  /** How many uploads are in each state. */
  count: Record<UploadState, number>;
  /** Of those that are not over, and of those that are done. */
  bytes: number;
  sent: number;
  /** Bytes a second; 0 if it is unknown. */
  speed: number;
}

export function totalsOf(tasks: readonly UploadTask[]): Totals {
  const count = {
    waiting: 0,
    running: 0,
    paused: 0,
    interrupted: 0,
    failed: 0,
    done: 0,
    canceled: 0,
  };
  let [bytes, sent, speed] = [0, 0, 0];
  for (const task of tasks) {
    count[task.state]++;
    if (task.state === "failed" || task.state === "interrupted") continue;
    bytes += task.record.size;
    sent += task.sent;
    if (task.state === "running") speed += task.speedometer.speed ?? 0;
  }
  return { count, bytes, sent, speed };
}

/** Returns the headline of all uploads: "Uploading 2 of 5 files", "3 uploads done". */
export function headlineOf({ count }: Totals): string {
  const open = count.waiting + count.running;
  if (open > 0) {
    const all = open + count.paused + count.done;
    return all === 1 ? "Uploading 1 file" : `Uploading ${count.done + 1} of ${plural(all, "file")}`;
  }
  if (count.paused > 0) return `${plural(count.paused, "upload")} paused`;
  if (count.failed > 0) return `${plural(count.failed, "upload")} failed`;
  if (count.done > 0) return `${plural(count.done, "upload")} done`;
  return `${plural(count.interrupted, "upload")} interrupted`;
}

/** Returns the figures below the headline: "42% · 3.1 MB/s · 2 min left". */
export function figuresOf({ count, bytes, sent, speed }: Totals): string {
  const parts: string[] = [];
  if (count.waiting + count.running > 0) {
    if (bytes > 0) parts.push(percentOf(sent, bytes));
    if (speed > 0) {
      parts.push(`${formatBytes(speed)}/s`, `${formatDuration((bytes - sent) / speed)} left`);
    }
  }
  const isOver = parts.length === 0 && count.paused === 0;
  if (count.failed > 0 && !isOver) parts.push(`${count.failed} failed`);
  if (count.done > 0 && isOver && count.failed > 0) parts.push(`${count.done} done`);
  return parts.join(" · ");
}

function percentOf(part: number, whole: number): string {
  return `${Math.floor(part / whole * 100)}%`;
}

/** Returns the line below the name of a folder: "12 of 300 files · 40%". */
export function folderDetailsOf(tasks: readonly UploadTask[]): string {
  const { count, bytes, sent } = totalsOf(tasks);
  const whole = plural(tasks.length, "file");
  const open = count.waiting + count.running;
  if (count.done === tasks.length) return `${whole}, ${formatBytes(bytes)}`;
  const parts = [`${count.done} of ${whole}`];
  if (bytes > 0) parts.push(percentOf(sent, bytes));
  if (count.paused > 0 && open === 0) parts.push("paused");
  if (count.failed > 0) parts.push(`${count.failed} failed`);
  if (count.interrupted > 0) {
    parts.push(`${count.interrupted} interrupted: upload the folder again to continue`);
  }
  return parts.join(" · ");
}

/** Returns the line below a name: how far an upload is, or why it does not go on. */
export function detailsOf(
  { state, sent, message, speedometer, isSending, record: { size, uploadId } }: UploadTask,
): string {
  switch (state) {
    case "waiting":
      return `${formatBytes(size)} · waiting`;
    case "paused":
      return `${formatBytes(sent)} of ${formatBytes(size)} · ${
        isSending ? "pausing after what is on its way" : "paused"
      }`;
    case "done":
      return formatBytes(size);
    case "failed":
      return message;
    case "interrupted":
      return uploadId === undefined
        ? "Not sent: choose the file again"
        : sent === 0
        ? "Interrupted: choose the file again to continue"
        : `${percentOf(sent, size)} kept, ${formatBytes(sent)} of ${
          formatBytes(size)
        }: choose the file again to continue`;
    case "canceled":
      return "Canceled";
  }
  if (message !== "") return message;
  const { speed = 0 } = speedometer;
  const parts = [`${formatBytes(sent)} of ${formatBytes(size)}`];
  if (sent === size) parts.push("storing");
  else if (speed > 0) {
    parts.push(`${formatBytes(speed)}/s`, `${formatDuration((size - sent) / speed)} left`);
  }
  return parts.join(" · ");
}

import { MAX_LIST } from "../../../rules/names.ts";
import { UsageError } from "../../terminal/output.ts";
import { quoteWord } from "../../terminal/text.ts";
import { type CommandCall, sizeCell } from "../command_call.ts";
import { DEFAULT_EVENTS, DEFAULT_USAGE_DAYS } from "../defaults.ts";

/** The most events and days that can be asked for. */
const MAX_EVENTS = 1_000_000;
const MAX_DAYS = 3660;

/** What is shown of an event. */
type AuditEvent = Record<"at" | "event" | "target" | "by" | "address", string>;

type UsageDay =
  & { date: string }
  & Record<"files" | "bytes" | "requests" | "received" | "sent", number>;

/** `kvdrive event list [PROJECT]`: the newest first. */
export async function listEvents(call: CommandCall): Promise<void> {
  const project = call.get("PROJECT") === undefined ? undefined : call.project;
  const limit = countIn(call, "limit", DEFAULT_EVENTS, MAX_EVENTS);
  const events = await call.administer(async (on) => {
    const path = project === undefined ? ["events"] : ["projects", project, "events"];
    const query = { limit: `${Math.min(limit, MAX_LIST)}` };
    const newest: AuditEvent[] = [];
    for await (const event of on.items<AuditEvent>(path, "events", query)) {
      if (newest.push(event) === limit) break;
    }
    return newest;
  });
  const rows = events.map(({ at, event, target, by, address }) => [
    at,
    event,
    target,
    by,
    address === "" ? null : address,
  ]);
  const headings = ["TIME", "EVENT", "TARGET", "BY", "ADDRESS"];
  call.printTable({ events }, headings, rows, "There are no events.");
}

/** `kvdrive usage [PROJECT]`: the oldest day first. */
export async function showUsage(call: CommandCall): Promise<void> {
  const project = call.get("PROJECT") === undefined ? undefined : call.project;
  const count = countIn(call, "days", DEFAULT_USAGE_DAYS, MAX_DAYS);
  const path = project === undefined ? ["usage"] : ["projects", project, "usage"];
  const { days } = await call.administer((on) =>
    on.get<{ days: UsageDay[] }>(path, { days: `${count}` })
  );
  const rows = days.map(({ date, files, bytes, requests, received, sent }) => [
    date,
    files,
    sizeCell(bytes),
    requests,
    sizeCell(received),
    sizeCell(sent),
  ]);
  const headings = ["DATE", "FILES", "SIZE", "REQUESTS", "RECEIVED", "SENT"];
  call.printTable({ days }, headings, rows, "There are no figures.");
}

function countIn(call: CommandCall, option: string, fallback: number, most: number): number {
  const text = call.get(option);
  if (text === undefined) return fallback;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= most) return count;
  throw new UsageError(
    `Bad value ${quoteWord(text)} of --${option}: it must be a whole number from 1 to ${most}`,
  );
}

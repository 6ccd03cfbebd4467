import type { Load, LoadResult, Message } from "../load.ts";
import type { PeerServer } from "./peer.ts";
import { FREE_NUMBERS, s3Target, signed, type Stored } from "./stored.ts";
import { nameOf } from "./template.ts";

/** What a load is made of. */
export interface Sender {
  server: PeerServer;
  stored: Stored;
  /** The number from which names are free. */
  from: number;
}

/** A line of the report. */
export interface PeerRow {
  name: string;
  unit: "req/s" | "MB/s" | "per write";
}

/** Work of a server that stores files. */
export interface StoreRow extends PeerRow {
  /** The requests; `undefined` if the server does not support them. */
  loadOf(sender: Sender): Load | undefined;
}

/** Seconds of measuring, of downloads and of uploads: the disk is not as steady. */
const READ_TIME = 1;
const WRITE_TIME = 2;
const LARGE_WRITE_TIME = 3;

/** What each server is measured with, in this order. */
export const STORE_ROWS: readonly StoreRow[] = [
  row("GET 4 KiB, one name, 32 connections", (sender) => get(sender, "small", 32)),
  row("GET 4 KiB, 20,000 names", (sender) => get(sender, "names", 32)),
  row("the same with 5 % writes", (sender) => {
    const upload = sender.server.upload?.(sender.stored.smallBytes);
    return upload &&
      { ...get(sender, "names", 32), from: sender.from, write: { ...upload, every: 20 } };
  }),
  row("PUT 4 KiB, 64 connections, new names", (sender) => put(sender, "{n}", 64)),
  row("GET 10 MiB, 1 connection", (sender) => get(sender, "large", 1)),
  row("GET 10 MiB, 4 connections", (sender) => get(sender, "large", 4)),
  row("PUT 10 MiB, 4 connections", (sender) => put(sender, "{t}", 4)),
  row("S3 GET 4 KiB, one name, 32 connections", (sender) => s3Get(sender, "small", 32)),
  row("S3 PUT 4 KiB, 64 connections, new names", (sender) => s3Put(sender, "new", 64)),
  row("S3 GET 10 MiB, 4 connections", (sender) => s3Get(sender, "large", 4)),
  row("S3 PUT 10 MiB, 4 connections", (sender) => s3Put(sender, "large", 4)),
  row("S3 list of 1,000, 8 connections", (sender) => s3Get(sender, "list", 8)),
];

function row(name: string, loadOf: StoreRow["loadOf"]): StoreRow {
  return { name, unit: name.includes("10 MiB") ? "MB/s" : "req/s", loadOf };
}

/** The figure of a row. */
export function figureOf({ unit }: PeerRow, result: LoadResult): number {
  return unit === "MB/s" ? result.megabytesPerSecond : result.perSecond;
}

function get(
  { server: { origin, headers }, stored }: Sender,
  what: "small" | "large" | "names",
  connections: number,
): Load {
  const target = stored[what];
  return { origin, method: "GET", target, headers, connections, seconds: READ_TIME };
}

/** Small uploads to new names, or large ones to a name for each connection. */
function put(
  { server, stored, from }: Sender,
  name: "{n}" | "{t}",
  connections: number,
  seconds = name === "{n}" ? WRITE_TIME : LARGE_WRITE_TIME,
): Load | undefined {
  const message: Message | undefined = server.upload?.(
    name === "{n}" ? stored.smallBytes : stored.largeBytes,
  );
  if (message === undefined) return undefined;
  const target = message.target.replace("{n}", name);
  return { origin: server.origin, ...message, target, from, connections, seconds };
}

/** Names that are signed for each second of a load: more than a server takes. */
const NAMES_PER_SECOND = 15_000;

function s3Put(
  { server: { s3 }, stored, from }: Sender,
  what: "new" | "large",
  connections: number,
  seconds = what === "new" ? WRITE_TIME : LARGE_WRITE_TIME,
): Load | undefined {
  if (s3 === undefined) return undefined;
  const body = what === "new" ? stored.smallBytes : stored.largeBytes;
  const target = what === "large" ? s3Target.large : Array.from(
    { length: NAMES_PER_SECOND * seconds },
    (_, n) => s3Target.new.replace("{n}", nameOf(from + n)),
  );
  const method = "PUT";
  const headers = (target: string) => signed(s3, { method, target, body }).headers ?? {};
  return { origin: s3.origin, method, target, headers, body, connections, seconds };
}

function s3Get(
  { server: { s3 } }: Sender,
  what: "small" | "large" | "list",
  connections: number,
): Load | undefined {
  if (s3 === undefined) return undefined;
  const target = s3Target[what];
  const message = signed(s3, { method: "GET", target });
  return { origin: s3.origin, ...message, connections, seconds: READ_TIME };
}

/** Requests through a reverse proxy. */
export const PROXY_ROW: PeerRow = { name: "gate / reverse proxy, small answer", unit: "req/s" };
export const PROXY_LOAD = { method: "GET", connections: 32, seconds: READ_TIME } as const;

/** Calls that make the disk write, for each upload of 4 KiB. Those of S3 come last, as not every server supports it. */
export const SYNC_ROWS: readonly StoreRow[] = [
  syncRow("PUT 4 KiB, 1 connection", (sender) => put(sender, "{n}", 1, READ_TIME)),
  syncRow("PUT 4 KiB, 64 connections", (sender) => put(sender, "{n}", 64, READ_TIME)),
  syncRow("S3 PUT 4 KiB, 1 connection", (sender) => s3Put(sender, "new", 1, READ_TIME)),
  syncRow("S3 PUT 4 KiB, 64 connections", (sender) => s3Put(sender, "new", 64, READ_TIME)),
];

function syncRow(name: string, loadOf: StoreRow["loadOf"]): StoreRow {
  return { name: `syncs for each ${name}`, unit: "per write", loadOf };
}

/** Numbers names of the next measurement. */
export function freeNumbers(): () => number {
  let count = 0;
  return () => FREE_NUMBERS * ++count;
}

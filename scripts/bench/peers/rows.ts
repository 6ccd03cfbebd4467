import type { PeerLoad, PeerLoadResult } from "./load.ts";
import type { PeerServer } from "./peer.ts";
import type { S3Load } from "./s3_load.ts";
import { s3Target } from "./servers/s3_bucket.ts";
import { LARGE, type Stored } from "./stored.ts";

/** A line of the report. */
export interface PeerRow {
  name: string;
  unit: "req/s" | "MB/s" | "per write";
}

/** What a load is made of. */
export interface Sender {
  server: PeerServer;
  stored: Stored;
  /** The number from which new names go on. */
  from: number;
}

/** Work of a server that stores files. */
export interface StoreRow extends PeerRow {
  /** Whether it reads from all names. */
  needsNames: boolean;
  /** Whether it needs the objects of S3. */
  needsS3?: boolean;
  /** Whether an unmeasured, shorter load comes first. Rows that continue the work of the row above need none. */
  warmsUp: boolean;
  /** The requests, unless the server cannot do that work. */
  loadOf(sender: Sender): PeerLoad | S3Load | undefined;
  figureOf(result: PeerLoadResult): number;
}

const READERS = 32;

/** Seconds of measuring, of downloads and of uploads: the disk is not as steady. */
const READ_TIME = 1;
const WRITE_TIME = 2;
const LARGE_WRITE_TIME = 3;

const perSecond = ({ requests, seconds }: PeerLoadResult): number => requests / seconds;
const received = ({ bytes, seconds }: PeerLoadResult): number => bytes / 1e6 / seconds;
const sent = ({ requests, seconds }: PeerLoadResult): number => requests * LARGE / 1e6 / seconds;

/** What each server is measured with, in this order. */
export const STORE_ROWS: readonly StoreRow[] = [
  {
    name: "GET 4 KiB, one name, 32 connections",
    unit: "req/s",
    needsNames: false,
    warmsUp: true,
    loadOf: ({ server, stored }) => reading(server, [stored.small], READERS),
    figureOf: perSecond,
  },
  {
    name: "GET 4 KiB, 20,000 names",
    unit: "req/s",
    needsNames: true,
    warmsUp: true,
    loadOf: ({ server, stored }) => reading(server, stored.names, READERS),
    figureOf: perSecond,
  },
  {
    name: "the same with 5 % writes",
    unit: "req/s",
    needsNames: true,
    warmsUp: false,
    loadOf: ({ server, stored, from }) => {
      const write = writing(server, stored.smallBytes, from, { every: 20 });
      return write && { ...reading(server, stored.names, READERS), write };
    },
    figureOf: perSecond,
  },
  {
    name: "PUT 4 KiB, 64 connections, new names",
    unit: "req/s",
    needsNames: false,
    warmsUp: true,
    loadOf: (sender) => smallUploads(sender, 64, WRITE_TIME),
    figureOf: perSecond,
  },
  largeDownloads(1, true),
  largeDownloads(4, false),
  {
    name: "PUT 10 MiB, 4 connections",
    unit: "MB/s",
    needsNames: false,
    warmsUp: true,
    loadOf: ({ server, stored, from }) => {
      const write = writing(server, stored.largeBytes, from, { isRepeated: true });
      const { origin } = server;
      return write && { origin, write, connections: 4, seconds: LARGE_WRITE_TIME };
    },
    figureOf: sent,
  },
  s3Row("S3 GET 4 KiB, one name, 32 connections", "req/s", s3Downloads("small", READERS)),
  s3Row("S3 PUT 4 KiB, 64 connections, new names", "req/s", (sender) => smallS3Uploads(sender, 64)),
  s3Row("S3 GET 10 MiB, 4 connections", "MB/s", s3Downloads("large", 4)),
  s3Row("S3 PUT 10 MiB, 4 connections", "MB/s", ({ stored, ...sender }) =>
    s3Load(sender, {
      method: "PUT",
      target: s3Target.large,
      body: stored.largeBytes,
      connections: 4,
      seconds: LARGE_WRITE_TIME,
    })),
  s3Row("S3 list of 1,000, 8 connections", "req/s", s3Downloads("list", 8)),
];

/** A row of S3, with a signature in each request. */
function s3Row(
  name: string,
  unit: "req/s" | "MB/s",
  loadOf: (sender: Sender) => S3Load | undefined,
): StoreRow {
  const isUpload = name.includes("PUT");
  const figureOf = unit === "req/s" ? perSecond : isUpload ? sent : received;
  return { name, unit, needsNames: false, needsS3: true, warmsUp: true, loadOf, figureOf };
}

function s3Downloads(
  what: "small" | "large" | "list",
  connections: number,
): (sender: Sender) => S3Load | undefined {
  const load = { method: "GET", target: s3Target[what], connections, seconds: READ_TIME } as const;
  return (sender) => s3Load(sender, load);
}

/** Uploads over S3 to new names; `undefined` if the server has no S3 API. */
function smallS3Uploads(
  { stored, ...sender }: Sender,
  connections: number,
  seconds = WRITE_TIME,
): S3Load | undefined {
  const body = stored.smallBytes;
  return s3Load(sender, { method: "PUT", target: s3Target.new, body, connections, seconds });
}

function s3Load(
  { server: { s3: access }, from }: Pick<Sender, "server" | "from">,
  load: Omit<S3Load, "access" | "from">,
): S3Load | undefined {
  return access && { access, from, ...load };
}

function largeDownloads(connections: number, warmsUp: boolean): StoreRow {
  return {
    name: `GET 10 MiB, ${countOf(connections)}`,
    unit: "MB/s",
    needsNames: false,
    warmsUp,
    loadOf: ({ server, stored }) => reading(server, [stored.large], connections),
    figureOf: received,
  };
}

/** Uploads to new names, unless the server takes none. */
function smallUploads(
  { server, stored, from }: Sender,
  connections: number,
  seconds: number,
): PeerLoad | undefined {
  const write = writing(server, stored.smallBytes, from, {});
  return write && { origin: server.origin, write, connections, seconds };
}

function reading(
  { origin, headers }: PeerServer,
  targets: readonly string[],
  connections: number,
): PeerLoad {
  return { origin, read: { targets, headers }, connections, seconds: READ_TIME };
}

function writing(
  { upload }: PeerServer,
  bytes: Uint8Array<ArrayBuffer>,
  from: number,
  { every = 1, isRepeated = false }: { every?: number; isRepeated?: boolean },
): PeerLoad["write"] {
  return upload && { template: upload(bytes), from, every, isRepeated };
}

/** Requests through a reverse proxy. */
export const PROXY_ROW: PeerRow = { name: "gate / reverse proxy, small answer", unit: "req/s" };

/** The load of that row. */
export const PROXY_LOAD = { connections: READERS, seconds: READ_TIME } as const;

/** A row of calls that make the disk write, for each upload of 4 KiB. */
export interface SyncRow extends PeerRow {
  connections: number;
  /** Whether the uploads use S3. */
  isS3: boolean;
  /** The uploads; `undefined` if the server does not support them. */
  loadOf(sender: Sender, seconds: number): PeerLoad | S3Load | undefined;
}

/** Rows of S3 come last, as not every server supports them. */
export const SYNC_ROWS: readonly SyncRow[] = [
  syncRow(1, false),
  syncRow(64, false),
  syncRow(1, true),
  syncRow(64, true),
];

function syncRow(connections: number, isS3: boolean): SyncRow {
  const uploads = isS3 ? smallS3Uploads : smallUploads;
  return {
    name: `syncs for each ${isS3 ? "S3 " : ""}PUT 4 KiB, ${countOf(connections)}`,
    unit: "per write",
    connections,
    isS3,
    loadOf: (sender, seconds) => uploads(sender, connections, seconds),
  };
}

function countOf(connections: number): string {
  return `${connections} connection${connections === 1 ? "" : "s"}`;
}

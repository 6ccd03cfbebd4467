import type { PeerLoad, PeerLoadResult } from "./load.ts";
import type { PeerServer } from "./peer.ts";
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
  /** Whether a second without a figure comes first. Rows that continue the work of the row above need none. */
  warmsUp: boolean;
  /** The requests, unless the server cannot do that work. */
  loadOf(sender: Sender): PeerLoad | undefined;
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
];

function largeDownloads(connections: number, warmsUp: boolean): StoreRow {
  return {
    name: `GET 10 MiB, ${connections} connection${connections === 1 ? "" : "s"}`,
    unit: "MB/s",
    needsNames: false,
    warmsUp,
    loadOf: ({ server, stored }) => reading(server, [stored.large], connections),
    figureOf: received,
  };
}

/** Uploads to new names, unless the server takes none. */
export function smallUploads(
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

/** Calls that make the disk write, for each upload of 4 KiB. */
export const SYNC_ROWS: readonly (PeerRow & { connections: number })[] = [
  { name: "syncs for each PUT 4 KiB, 1 connection", unit: "per write", connections: 1 },
  { name: "syncs for each PUT 4 KiB, 64 connections", unit: "per write", connections: 64 },
];

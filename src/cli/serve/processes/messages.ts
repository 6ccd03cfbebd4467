import type { Announcements, Questions } from "../../../server/peers.ts";

/** The environment variable that tells a process of a server, as JSON, which one it is. */
export const ASSIGNMENT_VARIABLE = "KVDRIVE_WORKER";

/** The ports of a server. What is off has none. */
export interface Ports {
  server: number;
  gate?: number | undefined;
  s3?: number | undefined;
  /** For plain HTTP besides https. */
  plain?: number | undefined;
  /** For challenges and redirects. */
  http?: number | undefined;
}

/** Which process of a server a process is. */
export interface Assignment {
  /** The process 0 does the work of which there is one: see `Peers.isLeader`. */
  index: number;
  count: number;
  /** The ports of the server; absent for its first process, which opens them. */
  ports?: Ports | undefined;
}

export type Announcement = {
  [T in keyof Announcements]: { topic: T; value: Announcements[T] };
}[keyof Announcements];

export type Question = {
  [T in keyof Questions]: { topic: T; value: Questions[T][0] };
}[keyof Questions];

/** From a process to its parent. */
export type MessageToParent =
  | { kind: "ready"; ports: Ports }
  | { kind: "tell"; announcement: Announcement }
  /** @property timeout Milliseconds after which a process that has not answered is left out. */
  | { kind: "ask"; id: number; question: Question; timeout: number }
  | { kind: "answer"; id: number; value: unknown };

/** From the parent to a process. */
export type MessageToWorker =
  /** All processes are ready. */
  | { kind: "begin" }
  /** A signal. @property status The exit status if it is the second one. */
  | { kind: "stop"; status: number }
  | { kind: "tell"; announcement: Announcement }
  | { kind: "ask"; id: number; question: Question }
  /** The answers of the others to a question. */
  | { kind: "answers"; id: number; values: unknown[] };

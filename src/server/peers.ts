import type { ServerLoad } from "../api/endpoint.ts";
import type { MetricFamily } from "../http/metrics/exposition.ts";
import { WrongKeyLimiter } from "../http/network/wrong_keys.ts";
import type { BackgroundPart } from "../store/store.ts";

/** What a process tells all others, by topic. */
export interface Announcements {
  /** A wrong key was counted for an address. */
  wrong_key: [address: string, subject: string];
  /** A wrong password was counted, for an address and a link. */
  wrong_password: [address: string, subject: string];
  /** There is background work, which the leader does. */
  wake: BackgroundPart;
  /** Told by the parent: the number of running processes, how many have ended, and when the last one did. */
  processes: { running: number; ended: number; lastEnd: number | undefined };
}

/** What a process asks all others: the parameter and the answer, by topic. */
export interface Questions {
  /** The state of the process. */
  load: [null, ServerLoad];
  metrics: [null, MetricFamily[]];
  /** The answer to a challenge of a certificate authority; `null` for an unknown token. */
  challenge: [token: string, string | null];
  /** Whether there is a certificate for the host name of an application, after an attempt to obtain it. */
  certificate: [name: string, boolean];
}

/** A process of a server, and its connection to the others. */
export interface Peers {
  /** The number of processes of the server. */
  count: number;
  /** Whether this process does the work of which there is one: background work, backups, certificates, the start message. */
  readonly isLeader: boolean;
  /** The last announcement of the parent; `undefined` without one. */
  readonly processes: Announcements["processes"] | undefined;
  /** Tells all other processes something. */
  tell<T extends keyof Announcements>(topic: T, value: Announcements[T]): void;
  /** Calls a listener with what other processes tell. */
  onTold<T extends keyof Announcements>(
    topic: T,
    listener: (value: Announcements[T]) => void,
  ): void;
  /** Asks all other processes. @returns the answers of those that answer within some milliseconds. */
  ask<T extends keyof Questions>(
    topic: T,
    value: Questions[T][0],
    timeout?: number,
  ): Promise<Questions[T][1][]>;
  /** Answers the questions of other processes. */
  onAsked<T extends keyof Questions>(
    topic: T,
    answer: (value: Questions[T][0]) => Questions[T][1] | Promise<Questions[T][1]>,
  ): void;
}

/** The only process of its server. */
export const NO_PEERS: Peers = {
  count: 1,
  isLeader: true,
  processes: undefined,
  tell: () => {},
  onTold: () => {},
  ask: () => Promise.resolve([]),
  onAsked: () => {},
};

/** Returns a limiter that counts the wrong keys, or passwords, at all processes of the server. */
export function commonLimiter(
  peers: Peers,
  topic: "wrong_key" | "wrong_password",
): WrongKeyLimiter {
  const limiter = new WrongKeyLimiter({
    onCount: (address, subject) => peers.tell(topic, [address, subject]),
  });
  peers.onTold(topic, ([address, subject]) => limiter.count(address, subject));
  return limiter;
}

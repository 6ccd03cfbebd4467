import { SECOND } from "../../../rules/units.ts";
import type { Environment } from "../../terminal/output.ts";
import { type Announcements, NO_PEERS, type Peers, type Questions } from "../../../server/peers.ts";
import {
  type Assignment,
  ASSIGNMENT_VARIABLE,
  type MessageToParent,
  type MessageToWorker,
  type Ports,
} from "./messages.ts";
import { onSignals, SIGNALS } from "./shutdown_signal.ts";
import type { PortSharing } from "../../../http1/listener.ts";
import type { ServeOptions } from "../../options/serve_options.ts";

import process from "node:process";

/** How long the other processes have for an answer, in milliseconds. */
const ANSWER_TIME = 5 * SECOND;

/** A process of a server as its parent knows it. */
export interface ServerProcess extends Peers, Assignment {
  /** Announces that this process serves. @returns whether the server begins, once all processes do; otherwise it ends. */
  ready(ports: Ports): Promise<boolean>;
  /** Calls a listener with the exit status of each signal. Returns a function that ends that. */
  onSignals: typeof onSignals;
}

/** The only process of its server. */
export const LONE_PROCESS: ServerProcess = {
  ...NO_PEERS,
  index: 0,
  ready: () => Promise.resolve(true),
  onSignals,
};

/** Returns the connection of a process that `superviseServer` has started; `undefined` in any other process. */
export function peersOf(env: Environment): ServerProcess | undefined {
  const assignment = env[ASSIGNMENT_VARIABLE] ?? "";
  if (assignment === "" || process.send === undefined) return undefined;
  return new WorkerPeers(JSON.parse(assignment));
}

type Listener = (value: never) => unknown;

/** One of several processes of a server. It ends with its parent. */
class WorkerPeers implements ServerProcess {
  readonly index: number;
  readonly count: number;
  readonly ports: Ports | undefined;
  processes: Announcements["processes"] | undefined;
  readonly #begun = Promise.withResolvers<boolean>();
  readonly #told = new Map<string, Listener>();
  readonly #asked = new Map<string, Listener>();
  readonly #questions = new Map<number, (answers: never[]) => void>();
  #lastQuestion = 0;
  /** The signals so far, as exit statuses. */
  readonly #signals: number[] = [];
  #onSignal: (status: number) => void = () => {};

  constructor({ index, count, ports }: Assignment) {
    this.index = index;
    this.count = count;
    this.ports = ports;
    this.onTold("processes", (processes) => this.processes = processes);
    process.on("message", (message) => void this.#receive(message as MessageToWorker));
    // Nothing is lost: what was answered is on disk. A graceful end would keep the ports from the next server.
    process.once("disconnect", () => Deno.exit(1));
    // A terminal sends SIGINT to all processes, and the parent passes it on.
    onSignals((status) => {
      if (status === SIGNALS.SIGTERM && this.#signals.length === 0) this.#signal(status);
    });
  }

  get isLeader(): boolean {
    return this.index === 0;
  }

  tell<T extends keyof Announcements>(topic: T, value: Announcements[T]): void {
    send({ kind: "tell", announcement: { topic, value } as never });
  }

  onTold<T extends keyof Announcements>(
    topic: T,
    listener: (value: Announcements[T]) => void,
  ): void {
    this.#told.set(topic, listener);
  }

  async ask<T extends keyof Questions>(
    topic: T,
    value: Questions[T][0],
    timeout = ANSWER_TIME,
  ): Promise<Questions[T][1][]> {
    const id = ++this.#lastQuestion;
    const { promise, resolve } = Promise.withResolvers<Questions[T][1][]>();
    this.#questions.set(id, resolve);
    send({ kind: "ask", id, question: { topic, value } as never, timeout });
    return await promise;
  }

  onAsked<T extends keyof Questions>(
    topic: T,
    answer: (value: Questions[T][0]) => Questions[T][1] | Promise<Questions[T][1]>,
  ): void {
    this.#asked.set(topic, answer);
  }

  async ready(ports: Ports): Promise<boolean> {
    send({ kind: "ready", ports });
    return await this.#begun.promise;
  }

  onSignals(listener: (status: number) => void): () => void {
    this.#onSignal = listener;
    this.#signals.forEach(listener);
    return () => this.#onSignal = () => {};
  }

  #signal(status: number): void {
    this.#signals.push(status);
    this.#begun.resolve(false);
    this.#onSignal(status);
  }

  async #receive(message: MessageToWorker): Promise<void> {
    switch (message.kind) {
      case "begin":
        return this.#begun.resolve(true);
      case "stop":
        return this.#signal(message.status);
      case "tell": {
        const { topic, value } = message.announcement;
        return void this.#told.get(topic)?.(value as never);
      }
      case "ask": {
        const { id, question: { topic, value } } = message;
        // A failure is left out, as no answer.
        const answer = await Promise.try(() => this.#asked.get(topic)?.(value as never))
          .catch(() => undefined);
        return send({ kind: "answer", id, value: answer });
      }
      case "answers":
        this.#questions.get(message.id)?.(message.values as never[]);
        this.#questions.delete(message.id);
    }
  }
}

/** Sends to the parent. Without it, this process is about to end. */
function send(message: MessageToParent): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

/** Returns how a process shares its ports with others; `undefined` if there are none. */
export function sharingOf({ count, ports }: ServerProcess): PortSharing | undefined {
  if (count === 1) return undefined;
  return ports === undefined ? "first" : "further";
}

/** Returns the options of one process: with the ports that the first one has opened, and its part of the limits. */
export function partOf(options: ServeOptions, { count, ports }: ServerProcess): ServeOptions {
  const part = { ...options, maxUploads: Math.floor(options.maxUploads / count) };
  if (ports === undefined) return part;
  const { acme } = options;
  return {
    ...part,
    port: ports.server,
    appsPort: ports.gate ?? "off",
    s3Port: ports.s3 ?? "off",
    acme: acme && {
      ...acme,
      httpPort: ports.http ?? acme.httpPort,
      plain: acme.plain && { ...acme.plain, port: ports.plain ?? acme.plain.port },
    },
  };
}

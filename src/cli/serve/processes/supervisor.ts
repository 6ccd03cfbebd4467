import { type ChildProcess, spawn } from "node:child_process";
import { failureReason } from "../../../rules/system_error.ts";
import { MINUTE, SECOND } from "../../../rules/units.ts";
import { logFormatOf } from "../../../server/log.ts";
import { type Build, currentBuild, runPermission } from "../../../version.ts";
import type { ServeOptions } from "../../options/serve_options.ts";
import {
  CommandError,
  type Environment,
  ExitWith,
  type LogFailure,
  serverLog,
  StartError,
} from "../../terminal/output.ts";
import { NpxParent, onSignals, SIGNALS } from "./shutdown_signal.ts";
import {
  type Announcement,
  ASSIGNMENT_VARIABLE,
  type MessageToParent,
  type MessageToWorker,
  type Ports,
  type Question,
} from "./messages.ts";

/** The pause before a process that has ended is started again, in milliseconds. It doubles with each end. */
export const FIRST_PAUSE = SECOND;
export const LAST_PAUSE = 30 * SECOND;

/** A process that ran for so long, in milliseconds, is started again after the first pause. */
const STABLE_TIME = MINUTE;

/** How long processes have to write their logs after a second signal, in milliseconds. */
const END_TIME = 1500;

/**
 * Runs a server of several processes until a signal ends it. The processes listen on the same ports and work on the same
 * store. This one starts them, starts those again that end, and passes messages between them; it serves no request.
 *
 * @param args The arguments of the program.
 * @throws {StartError} if processes cannot be started here.
 * @throws {ExitWith} if one of them cannot start. It has reported why.
 */
export async function superviseServer(
  options: ServeOptions,
  args: readonly string[],
  env: Environment,
): Promise<void> {
  const build = currentBuild(env);
  await requireProcesses(build);
  const { onError } = serverLog(logFormatOf(options));
  const supervisor = new Supervisor([...build.command, ...args], options.processes, env, onError);
  const stopListening = onSignals((status) => supervisor.signal(status));
  using npx = new NpxParent(env);
  npx.gone.then(() => supervisor.stop());
  try {
    await supervisor.run();
  } finally {
    stopListening();
  }
}

/** @throws {StartError} if this program cannot start several processes on one port. */
async function requireProcesses(build: Build): Promise<void> {
  if (Deno.build.os !== "linux") {
    throw new StartError(
      `Cannot share ports among processes on ${Deno.build.os}: --processes above 1 needs Linux`,
    );
  }
  const [command] = build.command;
  const { state } = await Deno.permissions.query({ name: "run", command });
  if (state === "granted") return;
  throw new StartError(
    build.kind === "compiled"
      ? "A compiled kvdrive has no permission to start processes: use kvdrive-packed or the npm package for --processes"
      : `Cannot start processes without the permission to run ${command}: start deno with ${
        runPermission(build)
      }`,
  );
}

class Supervisor {
  readonly #children: (Child | undefined)[];
  readonly #pauses: number[];
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  /** Rejects if a process ends before all are ready. */
  readonly #failed = Promise.withResolvers<never>();
  readonly #allEnded = Promise.withResolvers<void>();
  #ports: Ports | undefined;
  #hasBegun = false;
  #isStopping = false;
  /** The exit status after a second signal. */
  #status: number | undefined;
  #ended = 0;
  /** Milliseconds since 1970. */
  #lastEnd: number | undefined;

  constructor(
    private readonly command: readonly string[],
    private readonly count: number,
    private readonly env: Environment,
    private readonly onError: LogFailure,
  ) {
    this.#children = new Array(count).fill(undefined);
    this.#pauses = new Array(count).fill(FIRST_PAUSE);
    this.#failed.promise.catch(() => {});
  }

  /** Resolves once all processes have ended after a signal. */
  async run(): Promise<void> {
    try {
      await Promise.race([this.#start(), this.#failed.promise, this.#allEnded.promise]);
    } catch (error) {
      this.stop();
      await this.#allEnded.promise;
      throw error;
    }
    await this.#allEnded.promise;
    if (this.#status !== undefined) throw new ExitWith(this.#status);
  }

  /** Ends all processes once their running requests have ended. */
  stop(): void {
    if (!this.#isStopping) this.signal(SIGNALS.SIGTERM);
  }

  /** Passes a signal on. The second one ends all processes at once, and this one with a status. */
  signal(status: number): void {
    if (this.#isStopping && this.#status === undefined) {
      this.#status = status;
      setTimeout(() => this.#running().forEach((child) => child.kill()), END_TIME);
    }
    this.#isStopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const children = this.#running();
    if (children.length === 0) this.#allEnded.resolve();
    for (const child of children) child.send({ kind: "stop", status });
  }

  /** The first process opens the ports and prepares the store, so the others find both. */
  async #start(): Promise<void> {
    const leader = this.#spawn(0);
    this.#ports = await leader.ready;
    if (this.#isStopping) return;
    const others = this.#children.keys().drop(1).map((index) => this.#spawn(index)).toArray();
    await Promise.all(others.map(({ ready }) => ready));
    this.#hasBegun = true;
    for (const child of this.#running()) child.send({ kind: "begin" });
    this.#tellState();
  }

  #spawn(index: number): Child {
    const assignment = JSON.stringify({ index, count: this.count, ports: this.#ports });
    const [program = "", ...args] = this.command;
    const process = spawn(program, args, {
      env: { ...this.env, [ASSIGNMENT_VARIABLE]: assignment },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const child = new Child(process, index, (message) => void this.#receive(child, message));
    this.#children[index] = child;
    child.ended.then((how) => this.#onEnd(child, how));
    child.ready.then(() => {
      // The signal came before the process listened to messages.
      if (this.#isStopping) child.send({ kind: "stop", status: SIGNALS.SIGTERM });
      if (!this.#hasBegun) return;
      child.send({ kind: "begin" });
      this.#tellState();
    });
    return child;
  }

  #running(): Child[] {
    return this.#children.filter((child) => child !== undefined);
  }

  #onEnd(child: Child, { status, how }: End): void {
    const { index } = child;
    this.#children[index] = undefined;
    if (this.#isStopping) {
      if (this.#running().length === 0) this.#allEnded.resolve();
      return;
    }
    if (!this.#hasBegun) {
      const hasReported = status !== undefined && status > 0;
      const failure = new StartError(`Cannot start the server, as a process of it ${how}`);
      return this.#failed.reject(hasReported ? new ExitWith(status) : failure);
    }
    this.#ended++;
    this.#lastEnd = Date.now();
    const isStable = performance.now() - child.startedAt > STABLE_TIME;
    const pause = isStable ? FIRST_PAUSE : this.#pauses[index] ?? FIRST_PAUSE;
    this.#pauses[index] = Math.min(pause * 2, LAST_PAUSE);
    this.onError(
      new CommandError(
        `Process ${index + 1} of ${this.count} (pid ${child.pid}) ${how}. ` +
          `It is started again in ${pause / SECOND} s`,
      ),
    );
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#spawn(index);
    }, pause);
    this.#timers.add(timer);
    this.#tellState();
  }

  async #receive(from: Child, message: MessageToParent): Promise<void> {
    const others = this.#running().filter((child) => child !== from && child.isReady);
    if (message.kind === "tell") {
      for (const child of others) child.send(message);
    } else if (message.kind === "ask") {
      const { id, question, timeout } = message;
      const answers = await Promise.all(others.map((child) => child.ask(question, timeout)));
      const values = answers.filter((value) => value !== undefined);
      from.send({ kind: "answers", id, values });
    }
  }

  /** Tells the processes how many of them are running. */
  #tellState(): void {
    const running = this.#running().filter(({ isReady }) => isReady);
    const value = { running: running.length, ended: this.#ended, lastEnd: this.#lastEnd };
    const announcement: Announcement = { topic: "processes", value };
    for (const child of running) child.send({ kind: "tell", announcement });
  }
}

interface End {
  /** The exit status; `undefined` after a signal, and if it could not be started. */
  status: number | undefined;
  /** As the end of a sentence. */
  how: string;
}

/** A process of the server, as its parent sees it. */
class Child {
  readonly startedAt = performance.now();
  readonly ready: Promise<Ports>;
  readonly ended: Promise<End>;
  isReady = false;
  readonly #questions = new Map<number, (answer: unknown) => void>();
  #lastQuestion = 0;

  constructor(
    private readonly process: ChildProcess,
    readonly index: number,
    receive: (message: MessageToParent) => void,
  ) {
    const ready = Promise.withResolvers<Ports>();
    this.ready = ready.promise;
    process.on("message", (received) => {
      const message = received as MessageToParent;
      if (message.kind === "ready") {
        this.isReady = true;
        ready.resolve(message.ports);
      } else if (message.kind === "answer") {
        this.#questions.get(message.id)?.(message.value);
      } else receive(message);
    });
    const ended = Promise.withResolvers<End>();
    this.ended = ended.promise;
    const end = (status: number | undefined, how: string) => {
      ended.resolve({ status, how });
      for (const resolve of this.#questions.values()) resolve(undefined);
    };
    process.on("exit", (code, signal) => {
      if (code === null) end(undefined, `was ended by ${signal}`);
      else end(code, `ended with status ${code}`);
    });
    process.on("error", (error) => end(undefined, `could not be started: ${failureReason(error)}`));
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  /** Sends a message, unless the process has ended. */
  send(message: MessageToWorker): void {
    if (this.process.connected) this.process.send(message, undefined, undefined, () => {});
  }

  /** Asks the process. @returns `undefined` if it does not answer within some milliseconds. */
  async ask(question: Question, timeout: number): Promise<unknown> {
    const id = ++this.#lastQuestion;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#questions.set(id, resolve);
    const timer = setTimeout(resolve, timeout);
    this.send({ kind: "ask", id, question });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#questions.delete(id);
    }
  }

  kill(): void {
    this.process.kill("SIGKILL");
  }
}

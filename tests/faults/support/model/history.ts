import { type Effect, EMPTY, type State, textOf } from "./state.ts";

/** What an answer says about the name. */
export interface Outcome {
  text: string;
  effect: Effect;
  /** It never changes anything, so it may take place in any state that fits. */
  pure?: true;
}

/** An operation on the name, from the request to its answer. */
export class Call {
  outcome: Outcome | undefined;
  /** Whether there was an answer: without one the operation happened or not. */
  answered = false;

  constructor(readonly request: string, readonly begun: number) {}

  describe(): string {
    return `${this.request} → ${this.answered ? "" : "no answer; "}${this.outcome?.text ?? "…"}`;
  }
}

type Event = { type: "begin" | "end"; call: Call };

/** A state that the name may be in, and which of the running calls have taken place for that: a bit for each. */
interface Possible {
  state: State;
  done: number;
}

/** The answers about a name that no order of its operations explains. */
export class Unexplained extends Error {
  override readonly name = "Unexplained";
}

/**
 * What happened to one name. Each operation has to take place at one moment between its request and its answer, so that
 * every answer follows from the state at its moment. Wherever no operation is running, what was since the last such time
 * is checked: an operation is given its place only when an answer needs it (the search of Wing and Gong, as Lowe does it),
 * and no state is looked at twice.
 */
export class History {
  #states: State[] = [EMPTY];
  #events: Event[] = [];
  #running = 0;
  #begun = 0;

  constructor(readonly name: string) {}

  get isQuiet(): boolean {
    return this.#running === 0;
  }

  begin(request: string): Call {
    const call = new Call(request, ++this.#begun);
    this.#events.push({ type: "begin", call });
    this.#running++;
    return call;
  }

  /** @throws {Unexplained} if there is no order that explains what was answered. */
  end(call: Call, outcome: Outcome): void {
    call.outcome = outcome;
    call.answered = true;
    this.#events.push({ type: "end", call });
    this.#leave();
  }

  /** No answer came, and none will. `outcome` is what it did if it did anything; there may be nothing that it can do. */
  lose(call: Call, outcome: Outcome | undefined): void {
    call.outcome = outcome;
    this.#leave();
  }

  /** Drops what is not needed any more: uploads that nobody will call. */
  forget(uploads: ReadonlySet<string>): void {
    this.#states = distinct(this.#states.map((state) => ({
      ...state,
      uploads: Object.fromEntries(Object.entries(state.uploads).filter(([id]) => uploads.has(id))),
    })));
  }

  #leave(): void {
    this.#running--;
    if (this.#running > 0) return;
    const events = this.#events;
    this.#events = [];
    const found = explain(this.#states, events);
    if ("unexplained" in found) {
      const upTo = events.slice(0, found.unexplained + 1);
      throw new Unexplained(report(this.name, this.#states, shorten(this.#states, upTo)));
    }
    this.#states = found.states;
  }
}

type Explanation = { states: State[] } | { unexplained: number };

/** The states that the name can be in after all of it, or the first answer that cannot be. */
function explain(states: readonly State[], events: readonly Event[]): Explanation {
  const bits = new Map<Call, number>();
  let possible: Possible[] = states.map((state) => ({ state, done: 0 }));
  for (const [index, { type, call }] of events.entries()) {
    if (type === "begin") {
      bits.set(call, freeBit(bits));
      possible = possible.map((one) => settle(one, bits));
    } else {
      possible = demand(possible, bits, call);
      if (possible.length === 0) return { unexplained: index };
      bits.delete(call);
    }
  }
  // What has no answer had its last chance: the server is gone that it was sent to.
  return { states: distinct([...reach(possible, bits)].map(({ state }) => state)) };
}

function freeBit(bits: ReadonlyMap<Call, number>): number {
  const taken = [...bits.values()].reduce((all, bit) => all | bit, 0);
  for (let bit = 1; bit < 2 ** 30; bit *= 2) if ((taken & bit) === 0) return bit;
  throw new RangeError("Too many operations on one name at once");
}

/** Keeps what is possible once a call has taken place, whatever others took place before. */
function demand(possible: readonly Possible[], bits: Map<Call, number>, call: Call): Possible[] {
  const bit = bits.get(call) ?? 0;
  const found = new Map<string, Possible>();
  for (const one of reach(possible, bits, bit)) {
    if ((one.done & bit) === 0) continue;
    const after = { state: one.state, done: one.done & ~bit };
    found.set(identity(after), after);
  }
  return [...found.values()];
}

/** All that can be if running calls take place now. Nothing is looked for behind one in which `until` has. */
function* reach(
  possible: readonly Possible[],
  bits: ReadonlyMap<Call, number>,
  until = 0,
): Generator<Possible> {
  const seen = new Set(possible.map(identity));
  const todo = [...possible];
  for (let one = todo.pop(); one !== undefined; one = todo.pop()) {
    yield one;
    if ((one.done & until) !== 0) continue;
    for (const [{ outcome }, bit] of bits) {
      if ((one.done & bit) !== 0 || outcome === undefined || outcome.pure) continue;
      const state = outcome.effect(one.state);
      if (state === undefined) continue;
      const next = settle({ state, done: one.done | bit }, bits);
      const id = identity(next);
      if (seen.has(id)) continue;
      seen.add(id);
      todo.push(next);
    }
  }
}

/** Lets everything take place that fits this state and never changes one: it is in nobody's way. */
function settle({ state, done }: Possible, bits: ReadonlyMap<Call, number>): Possible {
  let all = done;
  for (const [{ outcome }, bit] of bits) {
    if ((all & bit) === 0 && outcome?.pure && outcome.effect(state) !== undefined) all |= bit;
  }
  return { state, done: all };
}

function identity({ state, done }: Possible): string {
  return `${done} ${textOf(state)}`;
}

function distinct(states: readonly State[]): State[] {
  return [...new Map(states.map((state) => [textOf(state), state])).values()];
}

/** Without the answers that change nothing and are not needed to see that it cannot be. */
function shorten(states: readonly State[], events: readonly Event[]): Event[] {
  let shortest = [...events];
  for (const { call } of events) {
    if (!call.outcome?.pure) continue;
    const without = shortest.filter((event) => event.call !== call);
    if ("unexplained" in explain(states, without)) shortest = without;
  }
  return shortest;
}

function report(name: string, states: readonly State[], events: readonly Event[]): string {
  const lines = events.map(({ type, call }) =>
    type === "begin"
      ? `  ${call.begun} begins: ${call.request}`
      : `  ${call.begun} ends:   ${call.describe()}`
  );
  const unknown = events.filter(({ type, call }) => type === "begin" && !call.answered);
  return [
    `No order of these operations on ${name} explains the last answer.`,
    "Before them, while nothing was running, it was one of:",
    ...states.map((state) => `  ${textOf(state)}`),
    "Then:",
    ...lines,
    ...unknown.map(({ call }) => `  ${call.begun} had: ${call.describe()}`),
  ].join("\n");
}

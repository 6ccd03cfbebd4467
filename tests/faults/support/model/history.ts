import { type Effect, EMPTY, type State, textOf } from "./state.ts";

/** The meaning of a response for one name. */
export interface Outcome {
  text: string;
  effect: Effect;
  /** The operation changes nothing, and is possible at any matching state. */
  pure?: true;
}

/** An operation on a name, from its request to its response. */
export class Call {
  outcome: Outcome | undefined;
  /** Whether there was a response. Without one the operation may have happened. */
  answered = false;

  constructor(readonly request: string, readonly begun: number) {}

  describe(): string {
    return `${this.request} → ${this.answered ? "" : "no response; "}${this.outcome?.text ?? "…"}`;
  }
}

type Event = { type: "begin" | "end"; call: Call };

/** A possible state of the name, and the running calls that took effect before it, one bit each. */
interface Possible {
  state: State;
  done: number;
}

/** No order of the operations on a name explains their responses. */
export class NotLinearizable extends Error {
  override readonly name = "NotLinearizable";
}

/**
 * The operations on one name, which must be linearizable: each takes effect at one moment between its request and its
 * response, and the response follows from the state at that moment. Whenever no operation is running, the operations
 * since the last such time are checked by the search of Wing and Gong with the improvements of Lowe: an operation takes
 * effect only when a response requires it, and no state is visited twice.
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

  /** @throws {NotLinearizable} if no order of the operations explains their responses. */
  end(call: Call, outcome: Outcome): void {
    call.outcome = outcome;
    call.answered = true;
    this.#events.push({ type: "end", call });
    this.#leave();
  }

  /**
   * Ends a call without a response. `outcome` is its effect if it took effect, or `undefined` if it cannot have one.
   */
  lose(call: Call, outcome: Outcome | undefined): void {
    call.outcome = outcome;
    this.#leave();
  }

  /** Keeps only the given uploads in the states. */
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
      throw new NotLinearizable(report(this.name, this.#states, shorten(this.#states, upTo)));
    }
    this.#states = found.states;
  }
}

type Explanation = { states: State[] } | { unexplained: number };

/** Returns the possible states after all events, or the index of the first response that is not possible. */
function explain(states: readonly State[], events: readonly Event[]): Explanation {
  const bits = new Map<Call, number>();
  let possible: Possible[] = states.map((state) => ({ state, done: 0 }));
  for (const [index, { type, call }] of events.entries()) {
    if (type === "begin") {
      bits.set(call, freeBit(bits));
      possible = possible.map((one) => settle(one, bits));
    } else {
      possible = statesAfter(possible, bits, call);
      if (possible.length === 0) return { unexplained: index };
      bits.delete(call);
    }
  }
  // Calls without a response cannot take effect later, as their server has ended.
  return { states: distinct([...reach(possible, bits)].map(({ state }) => state)) };
}

function freeBit(bits: ReadonlyMap<Call, number>): number {
  const taken = [...bits.values()].reduce((all, bit) => all | bit, 0);
  for (let bit = 1; bit < 2 ** 30; bit *= 2) if ((taken & bit) === 0) return bit;
  throw new RangeError("Too many operations on one name at once");
}

/** Returns the possible states in which a call took effect. */
function statesAfter(
  possible: readonly Possible[],
  bits: Map<Call, number>,
  call: Call,
): Possible[] {
  const bit = bits.get(call) ?? 0;
  const found = new Map<string, Possible>();
  for (const one of reach(possible, bits, bit)) {
    if ((one.done & bit) === 0) continue;
    const after = { state: one.state, done: one.done & ~bit };
    found.set(identity(after), after);
  }
  return [...found.values()];
}

/** Generates the states that running calls can reach. States in which `until` took effect are not extended. */
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

/** Applies all calls that match this state and change nothing. */
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

/** Removes read-only operations that are not needed to show the contradiction. */
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
    `No order of these operations on ${name} explains the last response.`,
    "Possible states before them:",
    ...states.map((state) => `  ${textOf(state)}`),
    "Then:",
    ...lines,
    ...unknown.map(({ call }) => `  ${call.begun} had: ${call.describe()}`),
  ].join("\n");
}

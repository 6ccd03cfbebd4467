/** An entry of the list that has an element. */
export interface Shown {
  index: number;
  name: string;
  /** The key of its element. */
  slot: number;
  isFocused: boolean;
}

/** An entry that needs an element; they come in the order of the list. */
export interface Wanted {
  index: number;
  name: string;
  /** Whether it is not on one of the lines, but has the focus. */
  isAside: boolean;
}

/** An index with its slot; `undefined` for one that needs a new element. */
type Slot = readonly [index: number, slot: number | undefined];

/**
 * Returns the slots of entries by their indexes, in order: changing an element costs less than making one.
 *
 * The element with the focus is not used for another entry, as the focus would stay in it, and the others do not make it
 * move in the document, as the browser would scroll to it.
 */
export function slotsOf(
  before: readonly Shown[],
  wanted: readonly Wanted[],
  isJumping: boolean,
): Map<number, number | undefined> {
  const assign = isJumping ? assignInJump : assignAtRest;
  const from = before.findIndex(({ isFocused }) => isFocused);
  const focused = before[from];
  const at = wanted.findIndex(({ name }) => name === focused?.name);
  if (at < 0) return inOrder(assign(before.filter((one) => one !== focused), wanted));
  const names = new Set(wanted.map(({ name }) => name));
  const [above, below] = balanced(
    [before.slice(0, from), before.slice(from + 1)],
    [at, wanted.length - at - 1],
    ({ name }) => !names.has(name),
  );
  return inOrder([
    ...assign(above, wanted.slice(0, at)),
    [wanted[at]!.index, focused?.slot],
    ...assign(below, wanted.slice(at + 1)),
  ]);
}

/**
 * Lets a side of the focused element that has too few elements have some of the other side. They come from its far end,
 * and are fewer than those that stay: so the element between them is not the one that is moved.
 */
function balanced(
  [above, below]: [above: Shown[], below: Shown[]],
  [needAbove, needBelow]: [above: number, below: number],
  isFree: (one: Shown) => boolean,
): [above: Shown[], below: Shown[]] {
  if (above.length < needAbove) {
    const most = Math.min(needAbove - above.length, below.length - needBelow, below.length >> 1);
    const lent = below.filter(isFree).toReversed().slice(0, Math.max(0, most)).toReversed();
    return [[...lent, ...above], below.filter((one) => !lent.includes(one))];
  }
  const most = Math.min(needBelow - below.length, above.length - needAbove, above.length >> 1);
  const lent = above.filter(isFree).slice(0, Math.max(0, most));
  return [above.filter((one) => !lent.includes(one)), [...below, ...lent]];
}

/** Entries keep their elements; others get those that are not needed. */
function assignAtRest(before: readonly Shown[], wanted: readonly Wanted[]): Slot[] {
  const byName = new Map(before.map(({ name, slot }) => [name, slot]));
  const names = new Set(wanted.map(({ name }) => name));
  const free = before.filter(({ name }) => !names.has(name)).values();
  return wanted.map(({ index, name }) => [index, byName.get(name) ?? free.next().value?.slot]);
}

/**
 * Changes as many elements as there are visible entries, and moves none in the document, which costs more than changing
 * one. The other elements stay as they are, out of sight.
 */
function assignInJump(before: readonly Shown[], wanted: readonly Wanted[]): Slot[] {
  const others = [...before];
  const visible = wanted.filter(({ isAside }) => !isAside);
  const last = visible.at(-1)?.index ?? 0;
  const end = others.findLastIndex(({ index }) => index <= last) + 1;
  const changed = others.splice(Math.max(0, end - visible.length), visible.length).values();
  const aside = others.splice(0, wanted.length - visible.length).values();
  return [
    ...others.map(({ index, slot }) => [index, slot] as const),
    ...wanted.map(({ index, isAside }) =>
      [index, (isAside ? aside : changed).next().value?.slot] as const
    ),
  ];
}

function inOrder(slots: Slot[]): Map<number, number | undefined> {
  return new Map(slots.sort(([a], [b]) => a - b));
}

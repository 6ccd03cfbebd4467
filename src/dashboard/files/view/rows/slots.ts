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
 * The element with the focus is not used for another entry, as the focus would stay in it. The others stay on their side
 * of it: the browser would scroll to an element with the focus that moves in the document.
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
  return inOrder([
    ...assign(before.slice(0, from), wanted.slice(0, at)),
    [wanted[at]!.index, focused?.slot],
    ...assign(before.slice(from + 1), wanted.slice(at + 1)),
  ]);
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

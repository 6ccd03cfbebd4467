/** The selected entries of a list, by name, so that they stay selected when the list is sorted or loaded again. */
export interface Selection {
  names: ReadonlySet<string>;
  /** Where ranges begin. */
  anchor: string | undefined;
  /** The entry that the keyboard is at. */
  focus: string | undefined;
}

/** The list that a selection is made in. */
export interface Order {
  readonly length: number;
  nameAt(index: number): string | undefined;
  /** -1 for a name that is not in the list. */
  indexOf(name: string): number;
}

export const EMPTY: Selection = { names: new Set(), anchor: undefined, focus: undefined };

export function selectOnly(name: string): Selection {
  return { names: new Set([name]), anchor: name, focus: name };
}

export function toggle({ names }: Selection, name: string): Selection {
  const changed = new Set(names);
  if (!changed.delete(name)) changed.add(name);
  return { names: changed, anchor: name, focus: name };
}

/** Selects everything from the anchor to an entry. @param isAdded Whether what was selected stays so. */
export function extend(
  { names, anchor, focus }: Selection,
  name: string,
  order: Order,
  isAdded = false,
): Selection {
  const start = anchor ?? focus ?? name;
  const from = Math.max(0, order.indexOf(start));
  const to = order.indexOf(name);
  const changed = new Set(isAdded ? names : []);
  for (let index = Math.min(from, to); index <= Math.max(from, to); index++) {
    const one = order.nameAt(index);
    if (one !== undefined) changed.add(one);
  }
  return { names: changed, anchor: start, focus: name };
}

/** Moves the focus and leaves the selection. */
export function moveTo(selection: Selection, name: string): Selection {
  return { ...selection, focus: name };
}

export function selectAll({ focus, anchor }: Selection, order: Order): Selection {
  const names = new Set<string>();
  for (let index = 0; index < order.length; index++) names.add(order.nameAt(index)!);
  return { names, anchor, focus };
}

/** Selects nothing; the focus stays. */
export function clear({ focus }: Selection): Selection {
  return { names: EMPTY.names, anchor: focus, focus };
}

/** An entry that gets another name stays selected. */
export function rename(
  { names, anchor, focus }: Selection,
  { from, to }: { from: string; to: string },
): Selection {
  const nameOf = <T extends string | undefined>(name: T) => name === from ? to : name;
  return { names: new Set([...names].map(nameOf)), anchor: nameOf(anchor), focus: nameOf(focus) };
}

/** Selects entries that have appeared. The keyboard is at the first one. */
export function selectThese(names: readonly string[]): Selection {
  const [first] = names;
  return { names: new Set(names), anchor: first, focus: first };
}

/** Forgets entries that are not in the list. The focus moves to the one that is now at the same place. */
export function retain(selection: Selection, before: Order, now: Order): Selection {
  const { names, anchor, focus } = selection;
  const isIn = (name: string | undefined) => name !== undefined && now.indexOf(name) >= 0;
  const kept = [...names].filter(isIn);
  const isSame = kept.length === names.size;
  const place = focus === undefined || isIn(focus)
    ? focus
    : now.nameAt(Math.min(before.indexOf(focus), now.length - 1));
  if (isSame && place === focus && (anchor === undefined || isIn(anchor))) return selection;
  return {
    names: isSame ? names : new Set(kept),
    anchor: isIn(anchor) ? anchor : place,
    focus: place,
  };
}

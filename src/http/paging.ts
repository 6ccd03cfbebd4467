/** "`size` … Number of file names in this response. `last` … Last file name in this response." */
export interface Paging {
  paging?: { size: number; last: string };
}

/** The paging object of a list, if and only if there is a further page. */
export function pagingOf(names: readonly string[], more: boolean): Paging {
  const last = names.at(-1);
  return more && last !== undefined ? { paging: { size: names.length, last } } : {};
}

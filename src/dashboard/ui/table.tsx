import type { ComponentChildren } from "preact";

export interface Column<T> {
  title: string;
  cell: (row: T) => ComponentChildren;
  /** Numbers stand at the end of their cell. */
  isNumber?: boolean;
  /** Left out on narrow screens. */
  isMinor?: boolean;
  /** Whether it names the row. There is one. */
  isMain?: boolean;
}

/** A table of records. On narrow screens each row is a card that begins with its main column. */
export function Table<T>({ caption, columns, rows, keyOf, actions, empty }: {
  /** For screen readers. */
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Buttons at the end of a row. */
  actions?: (row: T) => ComponentChildren;
  /** What is shown in place of a table without rows. */
  empty?: ComponentChildren;
}) {
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <div class="table-frame frame">
      <table class="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>{column.title}</th>
            ))}
            {actions === undefined ? null : (
              <th class="actions">
                <span class="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => <Cell key={column.title} column={column} row={row} />)}
              {actions === undefined ? null : <td class="actions">{actions(row)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell<T>({ column, row }: { column: Column<T>; row: T }) {
  const content = column.cell(row);
  return column.isMain
    ? <th scope="row" class={classOf(column)}>{content}</th>
    : <td class={classOf(column)} data-title={column.title}>{content}</td>;
}

function classOf<T>({ isNumber, isMinor, isMain }: Column<T>): string {
  return [isNumber ? "number" : "", isMinor ? "minor" : "", isMain ? "main" : ""].join(" ").trim();
}

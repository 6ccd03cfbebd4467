import { type IconNode, Plus } from "lucide";
import type { ComponentChildren } from "preact";
import type { Resource } from "../core/resource.ts";
import { Button } from "./button.tsx";
import { Empty, Loaded } from "./loaded.tsx";
import { Page, Section } from "./page.tsx";
import { type Removal, RemoveButton } from "./remove_button.tsx";
import { type Column, Table } from "./table.tsx";

/** A list of records, and what can be done with them: a page, or a section of one. */
interface CollectionProps<D, T, M> {
  title: string;
  lead?: ComponentChildren;
  isSection?: boolean;
  from: Resource<D>;
  /** The records in what was loaded. */
  rows: (data: D) => readonly T[];
  keyOf: (row: T) => string;
  columns: readonly Column<T>[];
  /** What is said in place of a table without rows: a line, or a title with an icon and a text. */
  empty: string | { icon: IconNode; title: string; text: string };
  create?: Creation<M>;
  /** Buttons of a row besides the one that removes it. */
  actions?: (row: T) => ComponentChildren;
  remove?: (row: T) => Removal;
  /** What is above the table. */
  above?: ComponentChildren;
  /** What is below the list. */
  children?: ComponentChildren;
}

/** The button that makes a record. */
interface Creation<M> {
  label: string;
  disabled?: boolean;
  /** Makes it. Returns `undefined` if the user does not want it. */
  ask: () => Promise<M | undefined>;
  /** Goes on with it, such as with its secret. */
  then: (made: M) => unknown;
}

export function Collection<D, T, M>(collection: CollectionProps<D, T, M>) {
  const { title, lead, isSection = false, from, rows, keyOf, columns, empty } = collection;
  const { create, actions, remove, above, children } = collection;
  const Frame = isSection ? Section : Page;
  const buttons = (row: T) => (
    <>
      {actions?.(row)}
      {remove && <RemoveButton {...remove(row)} after={from.reload} />}
    </>
  );
  return (
    <Frame
      title={title}
      lead={lead}
      actions={create && <CreateButton {...{ create, from, isSection }} />}
    >
      <Loaded from={from}>
        {(data) => (
          <div class="stack">
            {above}
            <Table
              {...{ columns, keyOf }}
              caption={title}
              rows={rows(data)}
              empty={typeof empty === "string" ? <p class="soft">{empty}</p> : <Empty {...empty} />}
              {...(remove || actions ? { actions: buttons } : {})}
            />
          </div>
        )}
      </Loaded>
      {children}
    </Frame>
  );
}

function CreateButton<D, M>({ create: { label, disabled, ask, then }, from, isSection }: {
  create: Creation<M>;
  from: Resource<D>;
  isSection: boolean;
}) {
  const click = async () => {
    const made = await ask();
    if (made === undefined) return;
    void from.reload();
    await then(made);
  };
  return (
    <Button
      {...(isSection ? {} : { kind: "primary" })}
      icon={Plus}
      disabled={disabled ?? false}
      onClick={click}
    >
      {label}
    </Button>
  );
}

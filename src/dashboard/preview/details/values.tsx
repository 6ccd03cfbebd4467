import type { ComponentChildren } from "preact";

/** A name with its value. */
export type Value = readonly [name: string, value: ComponentChildren];

/** Names with their values below them. */
export function Values({ values }: { values: readonly (Value | false)[] }) {
  return (
    <dl class="details-facts">
      {values.filter((value) => value !== false).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

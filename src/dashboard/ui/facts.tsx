import type { ComponentChildren } from "preact";

/** A name with its value; `false` for one that is not shown. */
export type Fact = readonly [name: string, value: ComponentChildren] | false;

/** Names with their values: beside each other in a frame, or below each other in a panel. */
export function Facts({ facts, isPanel = false }: { facts: readonly Fact[]; isPanel?: boolean }) {
  return (
    <dl class={isPanel ? "details-facts" : "facts frame"}>
      {facts.filter((fact) => fact !== false).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

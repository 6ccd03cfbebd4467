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

/** A bar that shows how much of a limit is used. */
export function Meter({ value, max, label }: { value: number; max: number; label: string }) {
  const share = max === 0 ? 1 : Math.min(1, value / max);
  return (
    <div
      class={share >= 0.95 ? "meter full" : "meter"}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.min(value, max)}
    >
      <span style={{ width: `${(share * 100).toFixed(1)}%` }} />
    </div>
  );
}

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

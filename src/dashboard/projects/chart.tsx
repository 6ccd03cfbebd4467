import { useId, useState } from "preact/hooks";
import { formatDate } from "../core/format.ts";

/** The size of a chart in its own units; it is scaled to the space that it gets. */
const WIDTH = 400;
const HEIGHT = 120;
/** Fewer days leave room at the start, so that no bar is wide. */
const MIN_BARS = 14;

/** A chart with a bar for each day. The table behind it is for screen readers. */
export function Chart({ title, labels, values, format }: {
  title: string;
  /** Days such as `2026-11-22`, the oldest first. */
  labels: readonly string[];
  values: readonly number[];
  format: (value: number) => string;
}) {
  const id = useId();
  const last = values.length - 1;
  const [shown, setShown] = useState<number>();
  const at = shown ?? last;
  const max = Math.max(1, ...values);
  const bars = Math.max(MIN_BARS, values.length);
  const step = WIDTH / bars;
  const skipped = bars - values.length;
  const gap = step > 6 ? 2 : 0;
  const follow = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const index = Math.floor((event.clientX - box.left) / box.width * bars) - skipped;
    setShown(Math.max(0, Math.min(last, index)));
  };
  return (
    <figure class="chart card" aria-labelledby={id}>
      <figcaption>
        <span id={id} class="soft">{title}</span>
        <strong>{format(values[at] ?? 0)}</strong>
        <span class="soft">{formatDate(labels[at])}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerMove={follow}
        onPointerLeave={() => setShown(undefined)}
      >
        {values.map((value, index) => {
          const height = value === 0 ? 1 : Math.max(2, value / max * HEIGHT);
          return (
            <rect
              key={labels[index]}
              class={index === at ? "bar chosen" : "bar"}
              x={(skipped + index) * step}
              y={HEIGHT - height}
              width={Math.max(0.5, step - gap)}
              height={height}
            />
          );
        })}
      </svg>
      <table class="visually-hidden">
        <caption>{title} by day</caption>
        <tbody>
          {values.map((value, index) => (
            <tr key={labels[index]}>
              <th scope="row">{formatDate(labels[index])}</th>
              <td>{format(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

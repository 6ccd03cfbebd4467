import { useId, useState } from "preact/hooks";

/** The size of a chart in its own units; it is scaled to the space that it gets. */
const WIDTH = 400;
const HEIGHT = 120;
/** Fewer days leave room at the start, so that no bar is wide. */
const MIN_BARS = 14;

/** A chart with a bar for each day or week. The table behind it is for screen readers. */
export function Chart({ title, labels, values, format, total }: {
  title: string;
  /** The times of the bars, the oldest first. */
  labels: readonly string[];
  values: readonly number[];
  format: (value: number) => string;
  /** The period that the sum of the values covers, such as "30 days"; without it the last value is shown. */
  total?: string | undefined;
}) {
  const id = useId();
  const last = values.length - 1;
  const [shown, setShown] = useState<number>();
  const at = shown ?? (total === undefined ? last : undefined);
  const figure = at === undefined ? values.reduce((sum, value) => sum + value, 0) : values[at] ?? 0;
  const max = Math.max(1, ...values);
  const isFlat = !values.some((value) => value > 0);
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
    <figure class="chart card stack" aria-labelledby={id}>
      <figcaption>
        <span id={id} class="soft">{title}</span>
        <strong>{format(figure)}</strong>
        <span class="soft">
          {shown !== undefined ? labels[shown] : total === undefined ? "now" : `in ${total}`}
        </span>
      </figcaption>
      <div class="chart-top hint" aria-hidden="true">{isFlat ? "" : format(max)}</div>
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
      <div class="chart-axis line between hint" aria-hidden="true">
        <span>{last > 0 ? labels[0] : ""}</span>
        <span>{labels[last]}</span>
      </div>
      {/* Tables take the height of their rows and not one of their own. */}
      <div class="visually-hidden">
        <table>
          <caption>{title} over time</caption>
          <tbody>
            {values.map((value, index) => (
              <tr key={labels[index]}>
                <th scope="row">{labels[index]}</th>
                <td>{format(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

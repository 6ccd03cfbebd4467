import { useMemo, useState } from "preact/hooks";
import { formatNumber, plural } from "../../core/format.ts";
import { delimiterOf, parseTable } from "../content/csv.ts";
import type { ViewProps } from "./problem.tsx";
import { FormattedView, type TextProps } from "./text.tsx";

/** Rows that are shown at once. */
const ROWS_STEP = 500;
/** Columns that are shown. */
const MAX_COLUMNS = 60;
/** Characters of a field that are shown. */
const MAX_FIELD = 500;

/** A table of comma- or tab-separated values. */
export function TableView(props: ViewProps) {
  return <FormattedView {...props} useFormat={useTable} />;
}

function useTable({ entry, beginning, text }: TextProps) {
  const [shown, setShown] = useState(ROWS_STEP);
  const isWhole = beginning.bytes.length >= beginning.total;
  const rows = useMemo(() => {
    const delimiter = /\.tsv$/i.test(entry.name) ? "\t" : delimiterOf(text);
    // The last line of a part may be cut.
    const lines = isWhole ? text : text.slice(0, text.lastIndexOf("\n") + 1);
    return parseTable(lines.replace(/^\ufeff/, ""), shown + 2, delimiter);
  }, [text, shown]);
  const [head = [], ...body] = rows;
  if (rows.length === 0) return undefined;
  const hasMore = body.length > shown;
  const columns = Math.min(MAX_COLUMNS, Math.max(...rows.map(({ length }) => length)));
  const indexes = Array.from({ length: columns }, (_, index) => index);
  const facts = [
    hasMore ? `First ${formatNumber(shown)} rows` : plural(body.length, "row"),
    columns === MAX_COLUMNS ? `First ${columns} columns` : plural(columns, "column"),
  ];
  const children = (
    <div class="values" role="region" aria-label="Content" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <td class="values-number" />
            {indexes.map((index) => (
              <th key={index} scope="col">{field(head[index]) || `Column ${index + 1}`}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.slice(0, shown).map((row, number) => (
            <tr key={number}>
              <td class="values-number">{number + 1}</td>
              {indexes.map((index) => <td key={index}>{field(row[index])}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
  return { facts, children, onMore: hasMore ? () => setShown(shown + ROWS_STEP) : undefined };
}

function field(value = ""): string {
  return value.length > MAX_FIELD ? `${value.slice(0, MAX_FIELD)}…` : value;
}

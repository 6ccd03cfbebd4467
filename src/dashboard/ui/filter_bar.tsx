import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { hashOf } from "../core/router.ts";

/** Time without another letter after which a list is searched, in milliseconds. */
const DELAY = 250;

/** Returns the query of the address, and a function that changes one value of it. */
export function useQuery(): [URLSearchParams, (name: string, value: string) => void] {
  const { router } = useApp();
  const { query } = router.address.value;
  const change = (name: string, value: string) => {
    const { segments, query } = router.address.peek();
    router.replace(hashOf(segments, { ...Object.fromEntries(query), [name]: value }));
  };
  return [query, change];
}

/** Two lists of one page, of which one is shown. */
export function Tabs({ label, tabs }: {
  label: string;
  tabs: readonly (readonly [label: string, href: string, isShown: boolean])[];
}) {
  return (
    <nav class="tabs line" aria-label={label}>
      {tabs.map(([label, href, isShown]) => (
        <a key={href} class="tab" href={href} aria-current={isShown ? "page" : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}

/** A field that searches a list, and choices beside it. The text is in the address. */
export function FilterBar({ label, children }: { label: string; children?: ComponentChildren }) {
  const [query, change] = useQuery();
  const q = query.get("q") ?? "";
  const [text, setText] = useState(q);
  useEffect(() => setText(q), [q]);
  useEffect(() => {
    if (text === q) return;
    const timer = setTimeout(() => change("q", text), DELAY);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="filter-bar row" role="search">
      <input
        class="input"
        type="search"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {children}
    </div>
  );
}

/** A choice that is kept in the address. */
export function FilterSelect({ name, label, all, options }: {
  name: string;
  label: string;
  /** What is shown while nothing is chosen. */
  all: string;
  options: readonly (readonly [value: string, label: string])[];
}) {
  const [query, change] = useQuery();
  return (
    <select
      class="input"
      aria-label={label}
      value={query.get(name) ?? ""}
      onChange={(event) => change(name, event.currentTarget.value)}
    >
      <option value="">{all}</option>
      {options.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
    </select>
  );
}
